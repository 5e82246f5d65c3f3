from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask


class UserDelayBaseTask:
    def __init__(self):
        self.app = HotelReservation()  # noqa: F821
        self.faulty_service = "user"

    def inject_fault(self):
        self.injector.inject_network_delay([self.faulty_service])


class UserDelayDetection(UserDelayBaseTask, DetectionTask):
    def eval(self, soln, trace, duration):
        self.add_result("Detection Accuracy", "Correct" if soln == "Yes" else "Incorrect")


class UserDelayLocalization(UserDelayBaseTask, LocalizationTask):
    def eval(self, soln, trace, duration):
        self.add_result("Localization Accuracy", 100.0 if soln == [self.faulty_service] else 0.0)
