import type { Answer } from './send.ts'

/** Requests of the clients with the answers they got: the first of the four sources that are compared. */
export type Told = {
  /** Time of the answer. */
  at: string
  sentAtMs: number
  answeredAtMs: number
  what: 'stake' | 'action' | 'movement' | 'other-body' | 'session'
  /** Transaction id, round id or session id, where the client knew one. */
  id: string | null
  asked: Record<string, unknown>
  answer: Answer
  /** Owner of the token that asked, which asking again needs. */
  token: string
}

export type Answers = {
  add(told: Omit<Told, 'at'>): void
  all(): readonly Told[]
  /** Number of answers of each status and code. */
  counts(): Record<string, number>
}

export function createAnswers(): Answers {
  const told: Told[] = []
  return {
    add: (entry) => told.push({ at: new Date(entry.answeredAtMs).toISOString(), ...entry }),
    all: () => told,
    counts() {
      const counts: Record<string, number> = {}
      for (const { what, answer } of told) {
        const key =
          `${what} ${answer.status} ${typeof answer.body.code === 'string' ? answer.body.code : ''}`.trim()
        counts[key] = (counts[key] ?? 0) + 1
      }
      return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => a.localeCompare(b)))
    },
  }
}
