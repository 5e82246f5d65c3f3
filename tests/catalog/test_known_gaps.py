"""Every known failure mechanism is a fault here, or has a reason why not."""

import pytest

from scenario_kit.catalog import Catalog
from tools.pages.known_gaps import load_coverage

CATALOG = Catalog()
COVERAGE = load_coverage(CATALOG)
FAULTS = set(CATALOG.faults())
UNBUILT = {entry.id for entry in COVERAGE.unbuilt}
#: The mechanisms that fault libraries of the field have, by our names.
EXPECTED = """
container-image-not-found container-image-wrong-architecture container-image-incompatible-version
container-image-defective-release container-command-not-found container-command-wrong-binary readiness-probe-failing
liveness-probe-failing liveness-probe-too-aggressive sidecar-port-conflict host-port-conflict
deployment-scaled-to-zero rollout-strategy-unsafe ephemeral-port-range-too-small cronjob-sidecar-never-completes
init-container-crash init-container-hang init-container-dependency-missing memory-limit-too-low cpu-limit-too-low
resource-limits-removed resource-quota-exceeded resource-quota-requires-limits limit-range-too-low
file-descriptor-exhaustion shared-memory-too-small noisy-neighbor node-cordoned node-selector-unsatisfiable
pod-anti-affinity-unsatisfiable resource-request-unschedulable taint-without-toleration priority-preemption
kubelet-stopped kubelet-eviction-threshold-wrong node-clock-drift node-conntrack-exhausted kube-proxy-defective
service-target-port-wrong service-selector-mismatch service-selector-captures-foreign-pods service-deleted
service-internal-traffic-local network-policy-deny-ingress network-policy-deny-egress pod-dns-policy-wrong
coredns-name-blocked ingress-backend-wrong tls-certificate-expired pod-ip-pool-exhausted
bgp-route-reflector-label-drift pvc-storage-class-missing pvc-claim-not-found pvc-rwo-multi-attach
pv-node-affinity-conflict pv-released-not-rebound storage-provisioner-outage volume-full block-device-corruption
disk-sector-error env-value-wrong env-var-missing env-var-shadowed configmap-deleted configmap-key-missing
rpc-timeout-retry-aggressive secret-data-corrupted secret-rotated-stale-env runtime-gc-misconfigured
latent-code-path-enabled request-filter-backtracking hpa-target-too-low hpa-missing-cpu-request
cronjob-overwrites-limits organic-growth rbac-permission-missing finalizer-deadlock admission-webhook-unavailable
admission-webhook-ca-mismatch mutating-webhook-shrinks-resources admission-webhook-latency-cumulative
pod-security-restricted valkey-password-changed valkey-memory-flood mongodb-user-dropped mongodb-role-revoked
mongodb-tls-required postgres-table-locked postgres-connections-exhausted kafka-poison-record
kafka-broker-heap-exhausted cache-flushed registry-state-lost pod-kill pod-failure container-kill network-delay
network-loss network-duplicate network-corrupt network-reorder network-bandwidth network-partition cpu-stress
memory-stress io-latency io-error io-attr-override io-mistake http-abort http-delay http-tamper dns-error dns-random
clock-skew jvm-latency jvm-exception jvm-return jvm-stress jvm-gc jvm-rule jvm-mysql physical-machine-attack
traffic-surge traffic-spike browser-load api-server-request-surge api-server-memory-stress etcd-io-latency
custom-resource-replicas-excessive custom-resource-field-invalid operator-image-not-found kernel-syscall-error
mesh-dataplane-disabled mesh-strict-mtls mesh-gateway-deny feature-flag-changed
""".split()  # noqa: SIM905 - one line a mechanism would be three pages


@pytest.mark.parametrize("mechanism", EXPECTED)
def test_mechanism_is_a_fault_or_has_a_reason(mechanism):
    assert (mechanism in FAULTS) != (mechanism in UNBUILT)


@pytest.mark.parametrize("entry", COVERAGE.unbuilt, ids=lambda e: e.id)
def test_explanation_is_a_sentence(entry):
    assert len(entry.because.split()) >= 6
    assert entry.title


def test_every_fault_of_itbench_is_mapped():
    numbers = [entry.number for entry in COVERAGE.itbench]
    assert numbers == [*range(1, 31), 36]
    for entry in COVERAGE.itbench:
        assert entry.faults
        assert set(entry.faults) <= FAULTS | UNBUILT, entry
