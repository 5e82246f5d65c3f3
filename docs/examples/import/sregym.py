from sregym.conductor.problems.base import Problem


class FrontendProbe(Problem):
    def __init__(self, app_name="astronomy_shop", faulty_service="frontend"):
        self.app_name = app_name
        self.faulty_service = faulty_service
        self.app = AstronomyShop()  # noqa: F821
        self.root_cause = self.build_structured_root_cause(
            component=self.faulty_service, namespace="astronomy-shop", description=f"{faulty_service} is never ready."
        )
        self.attempts = len(os.environ)  # noqa: F821

    def inject_fault(self):
        self.injector._inject(fault_type="readiness_probe_misconfiguration", microservices=[self.faulty_service])

    def recover_fault(self):
        self.injector._recover(fault_type="readiness_probe_misconfiguration", microservices=[self.faulty_service])
