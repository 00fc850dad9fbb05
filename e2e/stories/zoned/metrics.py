"""A stand-in for metrics-server, which the testbed has no packages for.

It serves the real interface (metrics.k8s.io/v1beta1, PodMetricsList, label
selectors) from the pods that the real API server lists. Only the numbers are
made up: the millicores in the file /tmp/load, shared evenly by the ready pods
that are asked for."""

import datetime
import http.server
import json
import os
import ssl
import urllib.parse
import urllib.request

GROUP = "/apis/metrics.k8s.io/v1beta1"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/"
API = "https://" + os.environ["KUBERNETES_SERVICE_HOST"] + ":" + os.environ["KUBERNETES_SERVICE_PORT"]


def pods(namespace, query):
    url = f"{API}/api/v1/namespaces/{namespace}/pods?" + urllib.parse.urlencode(query)
    token = open(ACCOUNT + "token").read()
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token})
    trust = ssl.create_default_context(cafile=ACCOUNT + "ca.crt")
    with urllib.request.urlopen(request, context=trust, timeout=5) as answer:
        items = json.load(answer)["items"]
    return [p for p in items if is_ready(p)]


def is_ready(pod):
    conditions = pod["status"].get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def metrics(namespace, query):
    measured = pods(namespace, query)
    load = float(open("/tmp/load").read())
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    items = []
    for pod in measured:
        containers = pod["spec"]["containers"]
        share = int(load * 1e6 / len(measured) / len(containers))
        usage = {"cpu": f"{share}n", "memory": "1Mi"}
        items.append({
            "metadata": {"name": pod["metadata"]["name"], "namespace": namespace},
            "timestamp": now,
            "window": "1s",
            "containers": [{"name": c["name"], "usage": usage} for c in containers],
        })
    return {"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": items}


RESOURCES = {
    "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "metrics.k8s.io/v1beta1",
    "resources": [{"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]}],
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        words = url.path.removeprefix(GROUP).strip("/").split("/")
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == GROUP:
            self.say(200, RESOURCES)
        elif len(words) == 3 and words[0] == "namespaces" and words[2] == "pods":
            self.say(200, metrics(words[1], {k: v for k, v in query.items() if k == "labelSelector"}))
        else:
            self.say(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404})

    def say(self, code, body):
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


if not os.path.exists("/tmp/load"):
    open("/tmp/load", "w").write("0")
server = http.server.ThreadingHTTPServer(("", 8443), Handler)
trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
trust.load_cert_chain("/certificate/tls.crt", "/certificate/tls.key")
server.socket = trust.wrap_socket(server.socket, server_side=True)
server.serve_forever()
