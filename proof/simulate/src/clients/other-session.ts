import { playRound } from '@pitboss/contracts/endpoints/play'
import { formatAmount, parseAmount } from '@pitboss/money/amount'
import type { SessionDocument } from '@pitboss/rounds/storage/sessions-store'
import type { Answer } from '@pitboss/chaos/send'
import type { z } from 'zod'
import { callerOf, type ClientDeps, createClient } from './client.ts'

type PlayBody = z.output<typeof playRound.call.request>['body']

const isSentElsewhere = 0.1
const usedUpPath = 'transaction_id'

/**
 * Creates what a page does now and then whose player has another session of the game: it sends a request
 * there, too, that has its round, or has used up its id. In the same currency that is a repeat; in another it
 * is a conflict, also where the minor units are the same.
 */
export function createAskElsewhere(deps: ClientDeps, first: SessionDocument, other: SessionDocument | null) {
  const { bus, ask } = createClient(deps)
  const random = deps.random.fork('elsewhere')

  return async function askElsewhere(key: string | null, body: PlayBody, answer: Answer): Promise<void> {
    if (other === null || key === null || !isDecided(answer) || !random.chance(isSentElsewhere)) return
    const stake = formatAmount(parseAmount(body.stake, first.currency), other.currency)
    const what = first.currency === other.currency ? 'stake' : 'other-body'
    const asked = { ...body, stake }
    const caller = callerOf({ kind: 'session', session_id: other._id })
    await ask({ what, id: key, asked }, (context) =>
      bus.call(playRound.call, { caller, params: {}, query: {}, body: asked }, context),
    )
  }
}

function isDecided({ status, body: { details } }: Answer): boolean {
  return (
    status === 201 ||
    (Array.isArray(details) && details.some((one: { path?: unknown }) => one.path === usedUpPath))
  )
}
