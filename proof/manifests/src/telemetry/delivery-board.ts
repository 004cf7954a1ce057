import { type Board, badShares, here, percentiles } from './panel.ts'

/** Deliveries, and the processes that do the work. */
export const deliveryBoard: Board = {
  name: 'delivery-and-engines',
  title: 'Pitboss: delivery and engines',
  rows: [
    {
      title: 'Deliveries',
      panels: [
        {
          title: 'Attempts, by result',
          says: 'Failures alone are a matter of receivers; nothing at all is a matter of webhooks.',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (result) (rate(pitboss_webhook_attempts_total{${here}}[5m]))`,
              legend: '{{result}}',
            },
          ],
        },
        {
          title: 'Wait for the first attempt',
          says: 'Of 100 deliveries 99 within 30 seconds is what is promised.',
          unit: 's',
          queries: percentiles('pitboss_webhook_first_attempt_wait_seconds'),
          limit: 30,
        },
        {
          title: 'Lateness that new play yields to',
          says: 'From ten seconds on a share of new play is refused, from thirty on all of it.',
          unit: 's',
          queries: [{ expr: `max(pitboss_webhook_late_seconds{${here}})`, legend: 'late' }],
          limit: 10,
          alerts: ['DeliveriesLate'],
        },
        {
          title: 'For how long the longest due delivery has been due, by how its endpoint stands',
          says: 'Healthy and untaken are matters of webhooks; full and unhealthy are matters of receivers.',
          unit: 's',
          queries: [
            {
              expr: `max by (endpoints) (pitboss_webhook_due_lag_seconds{${here}})`,
              legend: '{{endpoints}}',
            },
          ],
        },
        {
          title: 'Endpoints with an open breaker',
          says: 'They get probes alone. Many at once are a matter of the way out, not of receivers.',
          unit: 'short',
          queries: [{ expr: `max(pitboss_webhook_breakers_open{${here}})`, legend: 'open' }],
        },
        {
          title: 'Share of deliveries that wait for more than 30 seconds',
          says: 'One in a hundred is what 30 days allow.',
          unit: 'percentunit',
          queries: badShares('first_attempts'),
          limit: 0.144,
          alerts: ['FirstAttemptsLate', 'FirstAttemptsLateSlowly'],
        },
        {
          title: 'Time of receivers to answer',
          says: '15 s is silence.',
          unit: 's',
          queries: percentiles('pitboss_webhook_attempt_seconds'),
        },
        {
          title: 'Attempts in flight',
          says: 'A process has 1,024 at most; near it, receivers hang.',
          unit: 'short',
          queries: [
            { expr: `sum by (pod) (pitboss_webhook_attempts_in_flight{${here}})`, legend: '{{pod}}' },
          ],
          limit: 1024,
        },
        {
          title: 'Age of the oldest event that webhooks has not recorded',
          says: 'Seconds at most. It grows while the broker or webhooks stands still; settlement goes on.',
          unit: 's',
          queries: [{ expr: `max(pitboss_journal_oldest_seconds{${here}})`, legend: 'journal' }],
          limit: 120,
          alerts: ['JournalBehind'],
        },
        {
          title: 'Entries of the journal that are not done',
          says: 'Entries whose events webhooks has not recorded, or whose lists and sums wait. Hundreds under load.',
          unit: 'short',
          queries: [{ expr: `max(pitboss_journal_not_done{${here}})`, legend: 'entries' }],
          limit: 20_000,
        },
        {
          title: 'Unfinished work that nobody had',
          says: 'Streams that only the look of every minute has found. More than none is a fault of ours.',
          unit: 'short',
          queries: [{ expr: `sum(pitboss_journal_unowned_streams{${here}})`, legend: 'streams' }],
          limit: 1,
        },
        {
          title: 'Messages that consumers have yet to acknowledge',
          says: 'One that only grows is paused, or meets a message that it cannot take.',
          unit: 'short',
          queries: [
            { expr: `max by (consumer) (pitboss_consumer_pending{${here}})`, legend: '{{consumer}}' },
          ],
          limit: 10_000,
          alerts: ['ConsumerBehind'],
        },
        {
          title: 'For how long messages wait of which none is acknowledged',
          says: 'From 15 s of webhooks-fanout on new play is refused.',
          unit: 's',
          queries: [
            {
              expr: `max by (consumer) (pitboss_consumer_stalled_seconds{${here}})`,
              legend: '{{consumer}}',
            },
          ],
          limit: 15,
          alerts: ['EventsNotRecorded'],
        },
        {
          title: 'How full the stream of events is',
          says: 'A full one takes no event, so new play is refused.',
          unit: 'percentunit',
          queries: [{ expr: `max by (stream) (pitboss_stream_used_ratio{${here}})`, legend: '{{stream}}' }],
          limit: 0.7,
          alerts: ['StreamFills'],
        },
        {
          title: 'New play that is refused so that events keep up',
          says: 'None, as long as events are recorded and delivered in time and the stream has room.',
          unit: 'reqps',
          queries: [
            {
              expr: `sum by (why) (rate(pitboss_rounds_play_refused_total{${here}}[5m]))`,
              legend: '{{why}}',
            },
          ],
          alerts: ['PlayRefused'],
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          title: 'Processes, by service',
          says: 'Each service has at least as many as its scaler says.',
          unit: 'short',
          queries: [
            {
              expr: `count by (service) (process_start_time_seconds{${here}, service=~".+"})`,
              legend: '{{service}}',
            },
          ],
        },
        {
          title: 'Pods that do not answer Prometheus',
          says: 'One for a minute is a pod that is replaced.',
          unit: 'short',
          queries: [{ expr: `sum(1 - up{${here}, job=~".*/pitboss"})`, legend: 'pods' }],
          limit: 1,
          alerts: ['PodDoesNotAnswer'],
        },
        {
          title: 'Lag of the event loop, p99',
          says: 'Without the half second between two looks. Beyond 0.4 s the gateway sheds reads.',
          unit: 's',
          queries: [
            {
              expr: `max by (service) (nodejs_eventloop_lag_p99_seconds{${here}}) - 0.5`,
              legend: '{{service}}',
            },
          ],
          limit: 0.4,
          alerts: ['EventLoopLate'],
        },
        {
          title: 'Processor time',
          says: 'Cores in use. Scalers follow it.',
          unit: 'short',
          queries: [
            {
              expr: `sum by (service) (rate(process_cpu_seconds_total{${here}}[5m]))`,
              legend: '{{service}}',
            },
          ],
        },
        {
          title: 'Memory of the largest process',
          says: 'The limit is 512 MiB, 640 for the gateway.',
          unit: 'bytes',
          queries: [
            { expr: `max by (service) (process_resident_memory_bytes{${here}})`, legend: '{{service}}' },
          ],
          limit: 536_870_912,
        },
        {
          title: 'Time in garbage collection',
          says: 'Seconds a second; above 0.1 the heap is too small.',
          unit: 'short',
          queries: [
            {
              expr: `max by (service) (sum by (service, pod) (rate(nodejs_gc_duration_seconds_sum{${here}}[5m])))`,
              legend: '{{service}}',
            },
          ],
          limit: 0.1,
        },
        {
          title: 'Open files and sockets of the largest process',
          says: 'It follows connections; one that only grows is a leak.',
          unit: 'short',
          queries: [{ expr: `max by (service) (process_open_fds{${here}})`, legend: '{{service}}' }],
        },
        {
          title: 'Calls that fail, by service and code',
          says: 'SERVICE_UNAVAILABLE is a lack of places or an engine that is away; INTERNAL_ERROR is ours.',
          unit: 'reqps',
          queries: [
            {
              expr: `sum by (service, code) (rate(pitboss_call_seconds_count{${here}, code=~"SERVICE_UNAVAILABLE|INTERNAL_ERROR"}[5m])) or vector(0)`,
              legend: '{{service}} {{code}}',
            },
          ],
        },
        {
          title: 'The ten slowest calls, p95',
          says: 'Those that wait for a wallet last as long as it takes.',
          unit: 's',
          queries: [
            {
              expr: `topk(10, histogram_quantile(0.95, sum by (call, le) (rate(pitboss_call_seconds_bucket{${here}}[5m]))))`,
              legend: '{{call}}',
            },
          ],
        },
        {
          title: 'Requests at work',
          says: 'Beyond 1,000 a process sheds reads, beyond 2,000 stakes.',
          unit: 'short',
          queries: [{ expr: `sum by (pod) (pitboss_http_in_flight{${here}})`, legend: '{{pod}}' }],
        },
      ],
    },
  ],
}
