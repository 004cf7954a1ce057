import { mapBounded } from '@pitboss/runtime/map-bounded'
import { isUnfinished, type RoundState } from '../rules/round.ts'
import { sequenceOf } from '../storage/round-document.ts'
import type { Parts } from './parts.ts'

/** The answer of the round that has ended goes first. Source: ours. */
const behindMs = 4
const atOnceMax = 8
/** Above this, commitments are made when they are asked for. */
const waitingMax = 1000

export type CommitAhead = ReturnType<typeof createCommitAhead>

/**
 * Creates the making of commitments behind the answers: when a round has ended, the commitment of the next
 * nonce is made, so that the next stake does not wait for it. What a crash or a failure leaves out is made
 * when it is asked for. Source: ours.
 */
export function createCommitAhead({
  commitments,
  clock,
  logger,
}: Pick<Parts, 'commitments' | 'clock' | 'logger'>) {
  const waiting = new Map<string, number>()
  let timer: NodeJS.Timeout | null = null
  let making: Promise<void> = Promise.resolve()

  async function make(): Promise<void> {
    timer = null
    const nonces = [...waiting]
    waiting.clear()
    await mapBounded(nonces, atOnceMax, async ([sequence, nonce]) => {
      try {
        await commitments.ensure(sequence, nonce, clock.now())
      } catch (err) {
        logger.warn({ err, nonce }, 'commitment.left-to-the-stake')
      }
    })
  }

  return {
    /** Told of every change of a round; only an end makes a commitment. */
    after(round: RoundState): void {
      if (isUnfinished(round) || waiting.size >= waitingMax) return
      waiting.set(sequenceOf(round), round.nonce + 1)
      timer ??= setTimeout(() => {
        making = making.then(make)
      }, behindMs)
    },

    /** Resolves when nothing is being made any more; what waits is left out. */
    async stop(): Promise<void> {
      if (timer !== null) clearTimeout(timer)
      await making
    },
  }
}
