import type { Exchanged, ExchangeRequest, Post } from './exchange.ts'

/** What was sent and what came back, as a report shows it. */
export type RecordedExchange = {
  path: string
  headers: Record<string, string>
  body: string
  /** Null while nothing has come back, and for a failure. */
  http_status: number | null
  answer: string | null
  error: string | null
  latency_ms: number | null
}

export type Recorder = {
  readonly post: Post
  /** A text as a report shows it: without the secret, and not long. */
  readonly shown: (text: string) => string
  /** The latest exchanges since the last time it was asked, at most `keptMax`, and how many there were. */
  take(): { exchanges: RecordedExchange[]; exchanges_total: number }
}

/** The last ones of a case tell why it failed; together they fit into one message on the bus. */
const keptMax = 4
const charactersMax = 600
const encodedBytesMax = 900
const charactersOfOddText = 140
/** Signed or signing: their values open something or look as if they did. */
const signatureHeaders = new Set(['x-signature', 'x-svc-signature'])

/** Keeps what went and came by `post`; signatures become their length, and `secret` a word. */
export function recordExchanges(post: Post, secret: string): Recorder {
  let kept: RecordedExchange[] = []
  let total = 0
  const shown = (text: string) => cutText(text.replaceAll(secret, '[secret]'))
  return {
    shown,
    async post(request) {
      const record = recordOf(request, shown)
      total += 1
      kept = [...kept, record].slice(-keptMax)
      const exchanged = await post(request)
      fill(record, exchanged, shown)
      return exchanged
    },
    take() {
      const taken = { exchanges: kept, exchanges_total: total }
      kept = []
      total = 0
      return taken
    },
  }
}

/** The beginning of a text, short enough for a report, however its characters are encoded. */
function cutText(text: string): string {
  const short = text.slice(0, charactersMax)
  const isOdd = new TextEncoder().encode(JSON.stringify(short)).length > encodedBytesMax
  const cut = isOdd ? text.slice(0, charactersOfOddText) : short
  return cut.length < text.length ? `${cut}…` : cut
}

function recordOf(
  { path, headers, body }: ExchangeRequest,
  shown: (text: string) => string,
): RecordedExchange {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    signatureHeaders.has(name) ? `[signature of ${value.length} characters]` : shown(value),
  ])
  return {
    ...{ path, headers: Object.fromEntries(entries), body: shown(body) },
    ...{ http_status: null, answer: null, error: null, latency_ms: null },
  }
}

function fill(record: RecordedExchange, exchanged: Exchanged, shown: (text: string) => string): void {
  record.latency_ms = exchanged.latencyMs
  if (exchanged.kind === 'failure') record.error = shown(exchanged.error)
  else {
    record.http_status = exchanged.httpStatus
    record.answer = shown(new TextDecoder().decode(exchanged.body))
  }
}
