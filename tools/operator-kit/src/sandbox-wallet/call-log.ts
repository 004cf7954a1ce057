import type { Operation } from './wallet-request.ts'

const CALLS_KEPT_MAX = 5000
const ANSWER_CHARACTERS_KEPT_MAX = 4096

/**
 * One call that reached the wallet, in memory only. `http_status` and `status` are null when no answer went
 * out.
 */
type LoggedCall = {
  seq: number
  at: string
  operation: Operation
  player_id: string | null
  transaction_id: string | null
  request_id: string | null
  http_status: number | null
  status: string | null
  fault: string | null
  duration_ms: number
  headers: Record<string, string | string[] | undefined>
  body: string
  answer: string | null
}

export type CallLog = {
  add(call: Omit<LoggedCall, 'seq'>): void
  list(): readonly LoggedCall[]
  clear(): void
}

/** The last 5,000 calls with request and answer; sequence numbers go on after `clear`. */
export function createCallLog(): CallLog {
  let calls: LoggedCall[] = []
  let seq = 0
  return {
    add(call) {
      seq += 1
      const answer = call.answer?.slice(0, ANSWER_CHARACTERS_KEPT_MAX) ?? null
      calls.push({ ...call, seq, answer })
      if (calls.length > 2 * CALLS_KEPT_MAX) calls = calls.slice(-CALLS_KEPT_MAX)
    },
    list: () => calls.slice(-CALLS_KEPT_MAX),
    clear() {
      calls = []
    },
  }
}
