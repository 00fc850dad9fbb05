fn main() {
    for c in palladion_api::crd::all() {
        let s = serde_json::to_string(&c).unwrap();
        eprintln!("{} {}", c.metadata.name.clone().unwrap(), s.len());
        println!("{s}");
    }
}
