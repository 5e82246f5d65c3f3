"""Words of which people name things that work: they say what something is for, and nothing of its being broken."""

from __future__ import annotations

from typing import Final


def _split(text: str) -> list[str]:
    return text.split()


#: A name made of other words has to come from the app.
NEUTRAL: Final = frozenset(
    _split(
        """
    a access account accounting adapter admin agent alert all allow analytics api app application archive args
    arm asset async attribute audit auth authorization auto autoscaler avail b back backend backup balancer base
    basic batch beta big billing blue board boot bridge broker browser bucket buffer build builder bulk bus
    business by c ca cache cached calendar canary catalog central cert certificate certs chain channel check
    checker chk claim class classes clean cleaner cleanup cli client clk clock cloud cluster cm code collect
    collector color command common compact compliance component compute conf config configmap configs
    configuration connect connection connections connector console consumer container control controller cookie
    copy core count counter cpu crawler create cred credential credentials cron cronjob ctl ctr current custom
    customer d daemon daily dashboard data database day db debug dedicated default defaults deploy deployment desired
    dev device dir disk dispatch dispatcher dns docs document domain dump e east edge egress elastic email end
    endpoint engine env environment ephemeral equal etc etl event events exec export exporter external extra f
    facade fast feature feed fetch fetcher file files filter finance first fixed flag flags flow folder for
    format forward forwarder free front frontend full func function g gateway general generic geo get git global
    gpu grace grafana graph green group grpc guard guest h handler head headless health helper hi high history
    home hook hooks host hour hourly hpa http https i id identity image images import in inbound index indexer
    info infra ingest ingress init initial inner input insight instance int interface internal inventory io ip
    item j jdbc job jobs json k key keys kit kube kubernetes l label large last latest layer lb leader ledger
    legacy level lib library light limit limits link list listener lite load loader local locale log logger
    logging login logs long low lts m mail main maintenance manager map marketing master max mb media medium mem
    memory mesh message meta metadata meter metric metrics mgmt micro mid middleware migrate migration min mini
    minute mirror misc mobile mode model module monitor month mount mtls multi my n name namespace nat native
    net network new next nginx night nightly no node nodes normal notification notifier ns o object
    observability of off office old on ops opt option options orchestrator order org origin os other out
    outbound output owner p package page parent part partner patch path payload payments peer peers permission
    pi ping pipeline place plan platform plugin pod pods point policy poll poller pool port portal post prd pre
    prefix preview prices primary printer private process processor prod producer product production profile
    profiler prom prometheus properties protocol proxy pub public publisher pull purchase push pvc q qa quality
    query queue quota r rack random range rate rates raw read reader readonly ready real rec recent reconcile
    reconciler record recorder redis refresh region registry regular release remote renewal replica replicas
    report reporter reporting reports repository request requests res reserve resolver resource resources rest
    restore result retention rev review rights role root rotate rotation route router routes rpc rule rules run
    runner runtime s sales sample sandbox scale scan scanner schedule scheduled scheduler schema scope scrape
    scraper script scripts sdk search seat second secondary secret secrets security seed sender serve server
    service serviceaccount services session sessions set settings setup shard share shared shell shm shop short
    sidecar sign site size small smtp snapshot socket spare spec special spool sql src ssd ssl st staff stage
    staging standard standby start stat state static stats status std step storage store stores stream streaming
    sts sub subnet subscriber suite support svc switch sync synchronizer sys system t table tag target task
    tasks team telemetry temp template tenant terminal test text thread tier time timer tls tmp to token tool
    tools topic topology trace tracer tracing traffic transfer transform trial trigger tuner tunnel two tx type
    u ui unit update updater updates upload uploader upstream us use user users util utils v validator value
    values var variant vault version view viewer vm vol volume volumes w wait warehouse warm warmer watch
    pdb budget disruption netpol ing sa pv rs ds lr rq sc pc csr eps poddisruptionbudget networkpolicy
    resourcequota limitrange priorityclass storageclass statefulset daemonset replicaset
    watcher web webhook week weekly west window work worker workers workload write writer x y yaml z zone zones
    """
    )
)
#: Words of which programs make the lines that they print, whatever happens to them.
OUTPUT: Final = frozenset(
    _split(
        """
    aborting after again already an and are argument as at attempt attempts be before cannot closed closing
    command complete completed connected connecting could created creating denied directory does done empty
    enough error exit exited exiting expected failed failing failure fatal finished found from given got had has
    have if in into invalid is it lock locked lost missing must never no not nothing now number off ok on only
    opened or out over permission reached reading received refused resolve retry retrying running seconds
    sending skipped sleeping started starting still stopped stopping such than that the there this timed timeout
    trying unable unexpected unknown unreachable until up wait waited waiting warning was when will with without
    would writing yet
    """
    )
)
