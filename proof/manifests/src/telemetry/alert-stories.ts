/** Series from the start on, in promtool's notation, and whether an alert fires at a time. */
export type Story = {
  readonly what: string
  /** The time between two values, and between two looks at the rules. */
  readonly every: string
  readonly series: Readonly<Record<string, string>>
  readonly at: string
  readonly alert: string
  readonly fires: boolean
}

const labels = 'namespace="pitboss"'
const pod = (service: string) => `${labels},pod="${service}-1",service="${service}"`
const pending = (olderThan: string) => `pitboss_movements_pending{${labels},older_than="${olderThan}"}`
const requests = (part: string, rest: string) =>
  `pitboss_http_request_seconds_${part}{${labels},route="GET /v1/rounds",${rest}}`
const fine = requests('count', 'status="200",code=""')
const failed = requests('count', 'status="503",code="SERVICE_UNAVAILABLE"')
const walletFailed = requests('count', 'status="502",code="WALLET_REJECTED"')
const withinASecond = requests('bucket', 'status="200",code="",le="1"')
const attempts = (part: string) => `pitboss_webhook_first_attempt_wait_seconds_${part}{${labels}}`
const soon = `pitboss_webhook_first_attempt_wait_seconds_bucket{${labels},le="30"}`
const wallet = (judged: string) =>
  `pitboss_wallet_calls_total{${labels},operation="debit",judged="${judged}"}`
const inFlight = `pitboss_http_in_flight{${pod('gateway')}}`
const firstTryDuplicates = `pitboss_wallet_first_try_duplicates_total{${pod('wallet-bridge')},operation="debit"}`
const forged = `pitboss_calls_without_good_token_total{${pod('rounds')},reason="missing"}`
const receipts = (state: string) => `pitboss_rounds_receipts_total{${pod('rounds')},state="${state}"}`
const settlementRefused = (code: string) =>
  `pitboss_rounds_settlement_refused_total{${pod('rounds')},code="${code}"}`
const returnAlarms = `pitboss_return_alarms{${pod('rounds')}}`
const lag = `nodejs_eventloop_lag_p99_seconds{${pod('rounds')}}`
const stalled = `pitboss_consumer_stalled_seconds{${pod('webhooks')},consumer="webhooks-fanout"}`
const behind = `pitboss_consumer_pending{${pod('webhooks')},consumer="webhooks-fanout"}`
const oldest = `pitboss_journal_oldest_seconds{${pod('rounds')}}`
const used = `pitboss_stream_used_ratio{${pod('webhooks')},stream="EVENTS"}`
const refused = `pitboss_rounds_play_refused_total{${pod('rounds')},why="stream-full"}`
const late = `pitboss_webhook_late_seconds{${pod('webhooks')}}`
const up = `up{job="pitboss/pitboss",${labels},pod="rounds-1"}`

type Case = readonly [what: string, series: Story['series'], at: string, every?: string]

/**
 * For each alert a case in which it fires, and those in which it must not. The first is the one that is
 * drawn.
 */
const cases: Readonly<Record<string, { readonly fires: readonly Case[]; readonly sleeps: readonly Case[] }>> =
  {
    MovementUnresolved: {
      fires: [['one movement is unresolved', { [pending('5m')]: '0x10 1x20' }, '14m']],
      sleeps: [
        ['no movement is', { [pending('5m')]: '0x30' }, '14m'],
        ['one is for a moment', { [pending('5m')]: '0x10 1 0x30' }, '14m'],
      ],
    },
    MovementUnresolvedForADay: {
      fires: [
        [
          'one movement is unresolved for a day',
          { [pending('5m')]: '1x30', [pending('24h')]: '0x10 1x20' },
          '12m',
        ],
      ],
      sleeps: [['one is for an hour', { [pending('1h')]: '1x30', [pending('24h')]: '0x30' }, '12m']],
    },
    MovementsNotCounted: {
      fires: [
        ['nobody counts them any more', { [pending('5m')]: '0x10 _x30', [fine]: '0x40' }, '25m'],
        ['nobody has ever counted them', { [fine]: '0x30' }, '10m'],
        [
          'another installation counts its own',
          { [pending('5m')]: '0x10 _x30', [pending('5m').replace(labels, 'namespace="other"')]: '0x40' },
          '25m',
        ],
      ],
      sleeps: [['somebody does', { [pending('5m')]: '0x30' }, '10m']],
    },
    SettlementRefused: {
      fires: [
        [
          'a win is refused again and again',
          { [settlementRefused('ROUND_ALREADY_SETTLED')]: '0x5 0+4x30' },
          '20m',
        ],
      ],
      sleeps: [
        ['one was, and was paid then', { [settlementRefused('ROUND_IN_PROGRESS')]: '0x5 1x30' }, '20m'],
        ['none was, for an hour', { [settlementRefused('CONFLICT')]: '3x60' }, '60m'],
      ],
    },
    FirstTryDuplicate: {
      fires: [['a wallet takes a new stake for another', { [firstTryDuplicates]: '0x15 1x20' }, '18m']],
      sleeps: [['none does, for an hour', { [firstTryDuplicates]: '1x60' }, '60m']],
    },
    ReceiptDiffers: {
      fires: [['a page tells something else', { [receipts('DIFFERS')]: '0x15 1x20' }, '18m']],
      sleeps: [
        ['none does, for an hour', { [receipts('DIFFERS')]: '1x60' }, '60m'],
        [
          'pages agree, or are translated',
          { [receipts('AGREES')]: '0+50x30', [receipts('UNCHECKED')]: '0+5x30' },
          '20m',
        ],
      ],
    },
    CallWithoutGoodToken: {
      fires: [['a call is forged', { [forged]: '0x15 1x20' }, '18m']],
      sleeps: [['none is, for an hour', { [forged]: '1x60' }, '60m']],
    },
    ReturnsRuledOut: {
      fires: [['one alarm is open', { [returnAlarms]: '0x10 1x20' }, '14m']],
      sleeps: [['it was lifted', { [returnAlarms]: '1x10 0x20' }, '14m']],
    },
    NoGateway: {
      fires: [['every gateway is gone', { [fine]: '0+90x10 _x20', [inFlight]: '4x10 _x20' }, '20m']],
      sleeps: [['one answers', { [inFlight]: '0x30' }, '20m']],
    },
    RequestsFail: {
      fires: [
        ['a tenth of requests fails', { [fine]: '0+100x60 6000+90x60', [failed]: '0x60 0+10x60' }, '75m'],
      ],
      sleeps: [
        ['one request in ten thousand fails', { [fine]: '0+9999x120', [failed]: '0+1x120' }, '70m'],
        ['few requests come, and some fail', { [fine]: '0+0x120', [failed]: '0x60 1x5 2x5 3x60' }, '75m'],
        ['a wallet refuses a tenth', { [fine]: '0+90x120', [walletFailed]: '0+10x120' }, '70m'],
        ['they failed an hour ago', { [fine]: '0+90x240', [failed]: '0+10x60 600x180' }, '130m'],
      ],
    },
    RequestsFailSlowly: {
      fires: [['two in a thousand fail for days', { [fine]: '0+9980x80', [failed]: '0+20x80' }, '72h', '1h']],
      sleeps: [
        ['one in two thousand fails', { [fine]: '0+19990x80', [failed]: '0+10x80' }, '72h', '1h'],
        [
          'they failed for an hour, two days ago',
          { [fine]: '0+10000x80', [failed]: '0x10 1000 1000x80' },
          '60h',
          '1h',
        ],
      ],
    },
    ReadsLate: {
      fires: [
        ['a third of reads is late', { [fine]: '0+90x120', [withinASecond]: '0+90x60 5400+60x60' }, '110m'],
      ],
      sleeps: [
        ['one in a hundred is', { [fine]: '0+100x120', [withinASecond]: '0+99x120' }, '110m'],
        [
          'a request that moves money is late',
          { [fine.replace('GET', 'POST')]: '0+90x120', [withinASecond.replace('GET', 'POST')]: '0+9x120' },
          '110m',
        ],
      ],
    },
    ReadsLateSlowly: {
      fires: [
        [
          'two in a hundred are late for days',
          { [fine]: '0+5000x80', [withinASecond]: '0+4900x80' },
          '72h',
          '1h',
        ],
      ],
      sleeps: [
        ['five in a thousand are', { [fine]: '0+10000x80', [withinASecond]: '0+9950x80' }, '72h', '1h'],
      ],
    },
    FirstAttemptsLate: {
      fires: [
        [
          'first attempts wait for minutes',
          { [attempts('count')]: '0+60x120', [soon]: '0+60x60 3600+30x60' },
          '110m',
        ],
      ],
      sleeps: [
        ['they go at once', { [attempts('count')]: '0+60x120', [soon]: '0+60x120' }, '110m'],
        ['ten of them wait', { [attempts('count')]: '0+1x120', [soon]: '0+1x110 110x10' }, '118m'],
      ],
    },
    FirstAttemptsLateSlowly: {
      fires: [
        [
          'two in a hundred wait for days',
          { [attempts('count')]: '0+5000x80', [soon]: '0+4900x80' },
          '72h',
          '1h',
        ],
      ],
      sleeps: [
        ['five in a thousand do', { [attempts('count')]: '0+10000x80', [soon]: '0+9950x80' }, '72h', '1h'],
      ],
    },
    WalletsDoNotAnswer: {
      fires: [
        [
          'no wallet answers',
          { [wallet('unknown')]: '0x20 0+60x60', [wallet('success')]: '0+60x20 1200x60' },
          '40m',
        ],
      ],
      sleeps: [
        ['one of two answers', { [wallet('unknown')]: '0+60x60', [wallet('success')]: '0+60x60' }, '40m'],
        ['nobody plays', { [wallet('unknown')]: '5x60', [wallet('success')]: '50x60' }, '40m'],
      ],
    },
    EventsNotRecorded: {
      fires: [['nothing is recorded', { [stalled]: '0x10 0+60x20' }, '14m']],
      sleeps: [
        ['it hesitates for seconds', { [stalled]: '0x10 9 0x20' }, '11m'],
        [
          'the consumer of rounds stands still',
          { [stalled.replace('webhooks-fanout', 'rounds-movements')]: '0x10 0+60x20' },
          '14m',
        ],
      ],
    },
    ConsumerBehind: {
      fires: [['more come than are taken', { [behind]: '0x10 0+2000x40' }, '35m']],
      sleeps: [['a rewind is over in minutes', { [behind]: '0x10 30000x6 0x40' }, '15m']],
    },
    JournalBehind: {
      fires: [['the oldest only gets older', { [oldest]: '0x10 0+60x30' }, '18m']],
      sleeps: [['the broker restarts', { [oldest]: '0x10 30 60 90 0x30' }, '14m']],
    },
    StreamFills: {
      fires: [['it fills, an event after the other', { [used]: '0.5+0.01x60' }, '40m']],
      sleeps: [['it is as full as it gets', { [used]: '0.5x60' }, '40m']],
    },
    PlayRefused: {
      fires: [['stakes are refused', { [refused]: '0x10 0+30x20' }, '16m']],
      sleeps: [['none is, for an hour', { [refused]: '40x60' }, '60m']],
    },
    DeliveriesLate: {
      fires: [['deliveries come ever later', { [late]: '0x10 0+20x20' }, '15m']],
      sleeps: [['they are seconds late', { [late]: '0x10 4x20' }, '15m']],
    },
    PodDoesNotAnswer: {
      fires: [['a pod is silent', { [up]: '1x5 0x30' }, '15m']],
      sleeps: [['a pod was replaced', { [up]: '1x5 0x2 1x30' }, '15m']],
    },
    EventLoopLate: {
      fires: [['an event loop lags', { [lag]: '0.52x10 1.4x60' }, '25m']],
      sleeps: [['it did once', { [lag]: '0.52x10 1.4 0.52x60' }, '25m']],
    },
  }

/** What the alerts must do, each with a case in which it fires and one in which it sleeps. */
export const stories: readonly Story[] = Object.entries(cases).flatMap(([alert, { fires, sleeps }]) => {
  const storyOf = (fired: boolean) => {
    return ([what, series, at, every = '1m']: Case): Story => ({
      what,
      every,
      series,
      at,
      alert,
      fires: fired,
    })
  }
  return [...fires.map(storyOf(true)), ...sleeps.map(storyOf(false))]
})
