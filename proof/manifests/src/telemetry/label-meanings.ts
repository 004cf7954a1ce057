/**
 * The values of each label. All of them are bounded by the code: none is an id, an address or a name that a
 * client chooses.
 */
export const labelMeanings: Readonly<Record<string, string>> = {
  route:
    'method and template of a row of the route table, such as `GET /v1/rounds/{id}`; `none` for an unknown path',
  status: 'the HTTP status of the answer; its first digit is the class',
  code: 'a code of the error catalogue; empty for a success',
  reason:
    'what is wrong with a token: `missing`, `invalid`, `expired`, or the claim that does not fit: `audience`, `account`, `subject`, `environment`',
  operation: 'what a wallet is asked for: `debit`, `credit`, `rollback`',
  judged:
    'what its answer is taken for: `success`, `refused`, `rolled-back`, `unknown`. The last is asked again',
  older_than: 'the least age: `0s`, `5m`, `1h`, `24h`. Each counts the older ones, too',
  state:
    'how a receipt compares with its round: `AGREES`, `DIFFERS`, or `UNCHECKED` for a page in another language or of another release',
  why: 'why new play was refused: `stream-full`, the stream of events takes no more; `recording-stopped`, events wait and none is recorded; `deliveries-late`, new events reach healthy receivers late',
  metric: 'the name of a metric of this page',
  call: 'the subject of a call between services, such as `rounds.v1.player.play`',
  collection: 'the collection whose documents hold the events',
  consumer: 'a durable consumer: `webhooks-fanout`, `rounds-movements`',
  stream: 'the stream of events, `EVENTS`',
  endpoints:
    'how the endpoints stand: `healthy`; `full`, the receiver has as many attempts as it takes; `unhealthy`, it failed lately or its breaker is open; `untaken`, no worker runs it yet',
  limit:
    'a rate limit by its name in `limiterRules` (`operator`, `account`, `launcher`, `mintKey` …), `places` of an account or address, or `load`: requests that are shed',
  round_status: 'a status of the contract: `PENDING`, `OPEN`, `SETTLING`, `SETTLED`, `VOIDED`, `FAILED`',
  type: 'of a movement: `BET`, `WIN`, `REFUND`, `ROLLBACK`',
  outcome: 'the status in which a movement ends: `SUCCESS`, `FAILED`, `REFUNDED`, `ROLLED_BACK`',
  wallets:
    'what due movements wait for: `answering`, a place of this process; `full`, their wallet has as many calls at once as it gets; `silent`, it does not answer',
  result: '`accepted` for 2xx in time, else `failed`',
}
