import { ApiError, asApiError, isTokenError } from '../api/api-error.ts'
import type { GameApi } from '../api/game-api.ts'
import type { Round } from '../api/records.ts'
import type { Waiting } from './table-state.ts'

/** Time without an answer after which the player sees the reason for waiting. */
const waitingShownAfterMs = 1200
const pollEveryMs = { first: 700, most: 5000 }
/** About 15 minutes: longer than the service itself takes to end a movement of unknown outcome. */
const pollsMax = 200
const repeatsMax = 6
const firstRepeatMs = 1000

/**
 * A repeat with the same transaction_id, or of the same tile, changes nothing, so a lost answer may be asked
 * for again.
 */
const repeatableCodes = new Set(['NO_ANSWER', 'SERVICE_UNAVAILABLE', 'INTERNAL_ERROR'])

/**
 * The ways to wait for an answer, all of them bounded and shown to the player. They end when the player
 * leaves the table.
 */
export function createPatience({
  left,
  onWaiting,
}: {
  left: AbortSignal
  onWaiting: (waiting: Waiting) => void
}) {
  return {
    /** Asks for the round until its status is another one than `status`. */
    async follow(api: GameApi, roundId: string, status: Round['status']): Promise<Round> {
      let everyMs = pollEveryMs.first
      for (let poll = 0; poll < pollsMax; poll++) {
        await delay(everyMs, left)
        everyMs = Math.min(everyMs * 1.5, pollEveryMs.most)
        const round = await api.round(roundId).catch((error: unknown) => {
          if (isTokenError(asApiError(error))) throw error
          return null
        })
        if (round !== null && round.status !== status) return round
      }
      throw new ApiError('NO_ANSWER', 'The round is not over yet.')
    },

    /** Asks again after lost answers; only for what may be repeated. */
    async repeat(ask: () => Promise<Round>): Promise<Round> {
      for (let tries = 1; ; tries++) {
        try {
          return await ask()
        } catch (error) {
          const { code, retryAfterS } = asApiError(error)
          if (!repeatableCodes.has(code) || tries >= repeatsMax) throw error
          onWaiting('reconnecting')
          await delay(Math.max((retryAfterS ?? 0) * 1000, firstRepeatMs * 2 ** (tries - 1)), left)
        }
      }
    },

    /** Shows the player the reason for waiting when the answer takes longer than a moment. */
    async telling(waiting: Waiting, ask: () => Promise<Round>): Promise<Round> {
      const timer = setTimeout(() => onWaiting(waiting), waitingShownAfterMs)
      try {
        return await ask()
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/**
 * Resolves after `ms`; rejects when the signal aborts, so that nothing goes on behind a page that was left.
 */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new DOMException('left', 'AbortError'))
      return
    }
    const onAbort = () => {
      clearTimeout(timer)
      reject(new DOMException('left', 'AbortError'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
