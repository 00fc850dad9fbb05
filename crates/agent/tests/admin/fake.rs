//! An HTTP server on a free loopback port that answers by a function and
//! remembers what it was asked.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: String,
}

type Answers = Arc<dyn Fn(&Asked) -> (u16, String) + Send + Sync>;

/// The server.
#[derive(Clone)]
pub struct Fake {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fake {
    pub async fn start(answers: impl Fn(&Asked) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Self { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let answers: Answers = Arc::new(answers);
        let router = Router::new().fallback(answer).with_state((fake.asked.clone(), answers));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        fake
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub fn last(&self) -> Asked {
        self.asked().last().unwrap().clone()
    }
}

async fn answer(
    State((asked, answers)): State<(Arc<Mutex<Vec<Asked>>>, Answers)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let request = Asked {
        method,
        path: uri.path_and_query().unwrap().to_string(),
        headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    };
    let (code, text) = answers(&request);
    asked.lock().unwrap().push(request);
    (StatusCode::from_u16(code).unwrap(), text)
}
