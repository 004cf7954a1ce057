import { type Board, badShares, here, percentiles } from './panel.ts'

const requests = 'pitboss_http_request_seconds'

/** Money first, then play: what operators and players notice. */
export const moneyBoard: Board = {
  name: 'money-and-play',
  title: 'Pitboss: money and play',
  rows: [
    {
      title: 'Money',
      panels: [
        {
          title: 'Movements without a certain outcome, by least age',
          says: 'Above 0 at 5 minutes somebody waits for money, and people are woken.',
          unit: 'short',
          queries: [
            { expr: `max by (older_than) (pitboss_movements_pending{${here}})`, legend: '{{older_than}}' },
          ],
          limit: 1,
          alerts: ['MovementUnresolved', 'MovementUnresolvedForADay', 'MovementsNotCounted'],
        },
        {
          title: 'Age of the oldest of them',
          says: 'It falls by itself when the wallet answers again.',
          unit: 's',
          queries: [{ expr: `max(pitboss_movements_oldest_pending_seconds{${here}})`, legend: 'oldest' }],
          limit: 300,
        },
        {
          title: 'Calls to wallets, by how the answer was judged',
          says: 'Only unknown for minutes: seldom the fault of one operator.',
          unit: 'ops',
          queries: [
            { expr: `sum by (judged) (rate(pitboss_wallet_calls_total{${here}}[5m]))`, legend: '{{judged}}' },
          ],
          alerts: ['WalletsDoNotAnswer'],
        },
        {
          title: 'Time of wallets to answer',
          says: 'A player waits for it at every stake.',
          unit: 's',
          queries: percentiles('pitboss_wallet_call_seconds'),
        },
        {
          title: 'Movements that ended, by type and outcome',
          says: 'Failed wins are always 0. Many rollbacks: wallets that do not answer.',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (type, outcome) (rate(pitboss_movements_ended_total{${here}}[5m]))`,
              legend: '{{type}} {{outcome}}',
            },
          ],
        },
        {
          title: 'Owed movements that wallet-bridge refuses for good',
          says: 'Above 0 for minutes a round waits for ever: a person has to end it.',
          unit: 'short',
          queries: [
            {
              expr: `sum by (code) (increase(pitboss_rounds_settlement_refused_total{${here}}[5m]))`,
              legend: '{{code}}',
            },
          ],
          limit: 1,
          alerts: ['SettlementRefused'],
        },
        {
          title: 'Answers DUPLICATE to the first try of a movement',
          says: 'Always 0. One is a wallet that takes the movement for another, which moved other money or none.',
          unit: 'short',
          queries: [
            {
              expr: `sum by (operation) (increase(pitboss_wallet_first_try_duplicates_total{${here}}[10m]))`,
              legend: '{{operation}}',
            },
          ],
          limit: 1,
          alerts: ['FirstTryDuplicate'],
        },
        {
          title: 'Wallets that get no new stakes',
          says: 'Each is an operator whose wallet does not answer; its players get WALLET_UNAVAILABLE.',
          unit: 'short',
          queries: [{ expr: `max(pitboss_wallet_breakers_open{${here}})`, legend: 'wallets' }],
          limit: 1,
        },
        {
          title: 'Age of what is due and not taken',
          says: 'Under answering more replicas help; the rest waits for wallets.',
          unit: 's',
          queries: [
            {
              expr: `max by (wallets) (pitboss_movement_due_lag_seconds{${here}})`,
              legend: '{{wallets}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Play',
      panels: [
        {
          title: 'Requests, by class of answer',
          says: '5xx that stay are ours, unless their code begins with WALLET_.',
          unit: 'reqps',
          queries: [
            {
              expr: `sum by (class) (label_replace(rate(${requests}_count{${here}}[5m]), "class", "\${1}xx", "status", "(.).*"))`,
              legend: '{{class}}',
            },
          ],
          alerts: ['NoGateway'],
        },
        {
          title: 'Share of requests that fail by our fault',
          says: 'One in a thousand is what 30 days allow.',
          unit: 'percentunit',
          queries: badShares('requests'),
          limit: 0.0144,
          alerts: ['RequestsFail', 'RequestsFailSlowly'],
        },
        {
          title: 'Refusals, by code',
          says: 'RATE_LIMITED is one account or address; SERVICE_UNAVAILABLE is shedding, or an engine that is down.',
          unit: 'reqps',
          queries: [
            {
              expr: `topk(10, sum by (code) (rate(${requests}_count{${here}, code!=""}[5m]))) or vector(0)`,
              legend: '{{code}}',
            },
          ],
        },
        {
          title: 'Time to answer reads',
          says: 'Of 100 reads 99 within a second is what is promised.',
          unit: 's',
          queries: percentiles(requests, `${here}, route=~"GET .*"`),
          limit: 1,
        },
        {
          title: 'Share of reads that take more than a second',
          says: 'One in a hundred is what 30 days allow.',
          unit: 'percentunit',
          queries: badShares('reads'),
          limit: 0.144,
          alerts: ['ReadsLate', 'ReadsLateSlowly'],
        },
        {
          title: 'The ten slowest routes, p95',
          says: 'Routes that move money last as long as the wallet takes.',
          unit: 's',
          queries: [
            {
              expr: `topk(10, histogram_quantile(0.95, sum by (route, le) (rate(${requests}_bucket{${here}}[5m]))))`,
              legend: '{{route}}',
            },
          ],
        },
        {
          title: 'Rounds that are not over',
          says: 'Follows the number of players; one that only grows says that rounds do not end.',
          unit: 'short',
          queries: [{ expr: `max(pitboss_rounds_unfinished{${here}})`, legend: 'rounds' }],
        },
        {
          title: 'New play that was refused',
          says: 'So that events and deliveries keep up. What is owed is settled all the same.',
          unit: 'short',
          queries: [
            {
              expr: `sum by (why) (increase(pitboss_rounds_play_refused_total{${here}}[10m]))`,
              legend: '{{why}}',
            },
          ],
        },
        {
          title: 'Rounds, by the state that they enter',
          says: 'As many end as begin. Voided and failed ones are stakes that no wallet took.',
          unit: 'ops',
          queries: [
            {
              expr: `sum by (round_status) (rate(pitboss_rounds_entered_total{${here}}[5m]))`,
              legend: '{{round_status}}',
            },
          ],
        },
        {
          title: 'Refusals, by limit',
          says: 'Load is all clients; places and the named limits are one account, key or address each.',
          unit: 'reqps',
          queries: [
            {
              expr: `sum by (limit) (rate(pitboss_limit_refusals_total{${here}}[5m])) or vector(0)`,
              legend: '{{limit}}',
            },
          ],
        },
        {
          title: 'Ids of game rounds that an operator sends',
          says: "An operator's server sends ids under which game rounds have movements. It should use its own.",
          unit: 'short',
          queries: [
            { expr: `sum(increase(pitboss_rounds_id_conflicts_total{${here}}[1h]))`, legend: 'an hour' },
          ],
        },
        {
          title: 'Receipts of what pages showed',
          says: 'How they compare with the rounds. One that differs is a page that told a player something else than the records.',
          unit: 'short',
          queries: [
            {
              expr: `sum by (state) (increase(pitboss_rounds_receipts_total{${here}}[10m]))`,
              legend: '{{state}}',
            },
          ],
          alerts: ['ReceiptDiffers'],
        },
        {
          title: 'Calls without a good token',
          says: 'Always 0. One is a wrong order of an upgrade, a wrong clock, or somebody inside.',
          unit: 'short',
          queries: [
            {
              expr: `sum by (service, reason) (increase(pitboss_calls_without_good_token_total{${here}}[10m])) or vector(0)`,
              legend: '{{service}} {{reason}}',
            },
          ],
          limit: 1,
          alerts: ['CallWithoutGoodToken'],
        },
        {
          title: 'Open alarms of the watch of returns',
          says: 'Always 0. One says that a game does not pay or draw as designed; it is down until the alarm is lifted.',
          unit: 'short',
          queries: [{ expr: `max(pitboss_return_alarms{${here}})`, legend: 'alarms' }],
          limit: 1,
          alerts: ['ReturnsRuledOut'],
        },
      ],
    },
  ],
}
