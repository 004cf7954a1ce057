import { showMovement } from '@pitboss/contracts/calls/wallet'
import { getRound } from '@pitboss/contracts/endpoints/rounds'
import { ServiceError } from '@pitboss/errors/service-error'
import { BrokenInvariant } from '../check-steps.ts'
import type { World } from '../world.ts'
import { operator } from './client.ts'

const scope = { operatorId: '00000000-0000-4000-8000-0000000000bb', environment: 'SANDBOX' } as const
const asksMax = 8

/**
 * Another operator, who asks for rounds and movements whose ids became known to him, and must not see one.
 * @throws BrokenInvariant
 */
export async function askAsStranger({ bus: model, timeline, rounds, movements }: World): Promise<void> {
  const bus = model.busOf({ after: (ms, then) => timeline.after(ms, then), now: () => timeline.now() })
  const caller = { ...operator, scope }
  // The places of lost rounds have no id that could be asked for.
  const ids = [...rounds.table.keys()].filter((id) => id.startsWith('rnd_'))
  for (const roundId of ids.slice(-asksMax)) {
    const request = { caller, params: { round_id: roundId }, query: {}, body: undefined }
    await mustBeHidden(roundId, bus.call(getRound.call, request))
  }
  for (const { transactionId } of [...movements.table.values()].slice(-asksMax)) {
    await mustBeHidden(transactionId, bus.call(showMovement, { scope, transactionId }))
  }
}

async function mustBeHidden(id: string, asked: Promise<unknown>): Promise<void> {
  const seen = await asked.catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === 'ROUND_NOT_FOUND') return null
    throw error
  })
  if (seen !== null) throw new BrokenInvariant('nobody sees what is of another account', id)
}
