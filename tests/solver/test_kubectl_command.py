"""Which command lines a solver may give: nothing that leaves the API server, nothing that never ends."""

import pytest

from scenario_kit.solver.gateway.answers import BadCall
from scenario_kit.solver.gateway.kubectl_command import parse_kubectl


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("kubectl get pods", ("get", "pods")),
        ("get pods -A -o wide", ("get", "pods", "-A", "-o", "wide")),
        ("kubectl get pods -owide -lapp=cart", ("get", "pods", "-owide", "-lapp=cart")),
        ("kubectl get po -o jsonpath='{.items[?(@.a<5)].b}'", ("get", "po", "-o", "jsonpath={.items[?(@.a<5)].b}")),
        ("kubectl logs deploy/cart --tail -1 -c cart", ("logs", "deploy/cart", "--tail", "-1", "-c", "cart")),
        ("kubectl logs cart -p", ("logs", "cart", "-p")),
        ("kubectl patch svc x -p '{\"spec\":{}}'", ("patch", "svc", "x", "-p", '{"spec":{}}')),
        ("kubectl delete pod x", ("delete", "--wait=false", "pod", "x")),
        ("kubectl delete pod x --wait=true", ("delete", "pod", "x", "--wait=true")),
        ("kubectl rollout status deploy/x", ("rollout", "status", "--watch=false", "deploy/x")),
        ("kubectl rollout undo deploy/x", ("rollout", "undo", "deploy/x")),
        (
            "kubectl run look --image=busybox --restart=Never -- sh -c 'nslookup cart | cat'",
            ("run", "look", "--image=busybox", "--restart=Never", "--", "sh", "-c", "nslookup cart | cat"),
        ),
    ],
)
def test_kubectl_command_line_is_parsed(text, arguments):
    assert parse_kubectl(text).arguments == arguments


@pytest.mark.parametrize(
    "text",
    [
        "kubectl apply -f - <<EOF\nkind: Pod\nEOF",
        "kubectl apply -f - <<'EOF'\nkind: Pod\nEOF\n",
        "apply -f - <<END\nkind: Pod\nEND",
    ],
)
def test_here_document_becomes_stdin(text):
    assert parse_kubectl(text) == (("apply", "-f", "-"), "kind: Pod\n")


def test_stdin_can_be_passed_separately():
    assert parse_kubectl("apply -f -", "kind: Pod\n").stdin == "kind: Pod\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kubectl",
        "rm -rf /",
        "kubectl get pods | grep cart",
        "kubectl get pods; cat /etc/passwd",
        "kubectl get pods > /tmp/x",
        "kubectl get pods && true",
        "kubectl get 'pods",
        "kubectl --kubeconfig=/root/.kube/config get pods",
        "kubectl get pods --kubeconfig /root/.kube/config",
        "kubectl get pods --as=system:admin",
        "kubectl get pods --as-group system:masters",
        "kubectl get pods -s https://127.0.0.1:6443",
        "kubectl get pods --server=https://x --token=y",
        "kubectl get --raw /api/v1/namespaces",
        "kubectl apply -f /etc/passwd",
        "kubectl apply -f/etc/passwd",
        "kubectl apply --filename=http://example.com/x.yaml",
        "kubectl apply --filename /etc/passwd",
        "kubectl apply -k .",
        "kubectl create configmap x --from-file=/etc/passwd",
        "kubectl create configmap x --from-env-file=/etc/passwd",
        "kubectl patch svc x --patch-file=/etc/passwd",
        "kubectl get pods -o go-template-file=/etc/passwd",
        "kubectl get pods -ojsonpath-file=/etc/passwd",
        "kubectl get pods --output custom-columns-file=/etc/passwd",
        "kubectl get pods --cache-dir=/tmp",
        "kubectl get pods --profile=cpu --profile-output=/tmp/x",
        "kubectl get pods -w",
        "kubectl get pods -Aw",
        "kubectl get pods --watch",
        "kubectl logs x -f",
        "kubectl logs x --follow",
        "kubectl logs -fc cart x",
        "kubectl wait --for=condition=Ready pod/x",
        "kubectl edit deploy/x",
        "kubectl proxy",
        "kubectl port-forward svc/x 80",
        "kubectl cp x:/a b",
        "kubectl exec -it x -- sh",
        "kubectl run x --image=b -i --rm",
        "kubectl config view",
        "kubectl plugin list",
        "kubectl cluster-info dump --output-directory=/tmp",
    ],
)
def test_unsupported_kubectl_call_is_refused_with_fix(text):
    with pytest.raises(BadCall) as caught:
        parse_kubectl(text)
    assert caught.value.problem
    assert caught.value.fix
