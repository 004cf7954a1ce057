import { answer, handler } from '@pitboss/bus/serve-calls'
import type { RequestOf } from '@pitboss/contracts/call'
import { type Caller, lookupScopes } from '@pitboss/contracts/caller'
import { roundReceipt } from '@pitboss/contracts/calls/dashboard'
import { sendReceipt } from '@pitboss/contracts/endpoints/play'
import { type ReceiptBody, receiptState, type SealedReceipt } from '@pitboss/contracts/objects/receipt'
import { conflict, invalidField, ServiceError } from '@pitboss/errors/service-error'
import { receiptHash } from '@pitboss/fairness/receipt'
import { roundLine, roundLineLanguage, roundLineVersion, type ToldRound } from '@pitboss/fairness/round-line'
import { registerCounter } from '@pitboss/runtime/register-metrics'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { findPlayer, findPlayerRound } from '../../actions/player-page.ts'
import type { RoundsContext } from '../../context.ts'
import { presentRound } from '../../records/present-round.ts'
import { isUnfinished, type RoundState } from '../../rules/round.ts'
import type { Wing } from '../../wing.ts'
import {
  createReceiptsStore,
  receiptPlace,
  receiptPurpose,
  type ReceiptsStore,
} from './storage/receipts-store.ts'

/** What pages showed of settled rounds. Source: docs/contract.md, section 4, "Receipts". */
export const receipts: Wing = {
  seals: [receiptPlace],
  open(core, { db, keyring, registry }) {
    const context: ReceiptsContext = {
      ...core,
      receipts: createReceiptsStore({ db, secretBox: createSecretBox(keyring, receiptPurpose) }),
      noteReceipt: createReceiptNote(registry, core.logger),
    }
    return {
      calls: [
        handler(sendReceipt.call, async (asked) => {
          const { hash, received_at } = await keepReceipt(context, asked)
          return answer({ round_id: asked.params.round_id, hash, received_at })
        }),
        handler(roundReceipt, async ({ caller, roundId }) => ({
          receipt: await findReceipt(context, caller, roundId),
        })),
      ],
    }
  },
}

export function createReceiptNote(registry: Registry, logger: Logger) {
  const help = 'Receipts of what pages showed of a settled round, by how they compare with the round'
  const name = 'pitboss_rounds_receipts_total'
  const receipts = registerCounter(registry, name, help, 'state', receiptState.options)
  return function noteReceipt({ id, operatorId, environment, game }: RoundState, receipt: SealedReceipt) {
    const { state, build, language, text, expected } = receipt
    receipts.inc({ state })
    if (state !== 'DIFFERS') return
    const about = { operator_id: operatorId, environment, round_id: id, game, build, language }
    logger.error({ ...about, shown: text, expected }, 'receipt.differs')
  }
}

type ReceiptsContext = RoundsContext & {
  readonly receipts: ReceiptsStore
  /** Counts a receipt that was kept; the alarm is for one that differs. */
  readonly noteReceipt: (round: RoundState, receipt: SealedReceipt) => void
}

/**
 * Stores what the player's page showed of a settled round; the first receipt counts. @throws ServiceError
 * ROUND_NOT_FOUND; ROUND_IN_PROGRESS; CONFLICT when not settled, or for another; VALIDATION_ERROR at `hash`
 */
async function keepReceipt(context: ReceiptsContext, request: RequestOf<typeof sendReceipt.call>) {
  const { caller, body, added } = request
  const { round_id: roundId } = request.params
  const { receipts, clock } = context
  const player = await findPlayer(context, caller)
  const { round } = await findPlayerRound(context, player, roundId)
  if (isUnfinished(round)) throw new ServiceError('ROUND_IN_PROGRESS')
  if (round.status !== 'SETTLED' || round.driver !== 'game')
    throw conflict('No page shows an outcome of this round.')
  const { build, language, text_version: textVersion, text, hash } = body
  if (receiptHash({ roundId, build, language, textVersion, text }) !== hash)
    throw invalidField('hash', 'is not the hash of this receipt')
  const receipt = judgeReceipt(body, added?.page ?? null, presentRound(round), clock.now())
  if (await receipts.keep(player.scope, roundId, receipt)) {
    context.noteReceipt(round, receipt)
    return receipt
  }
  const first = await receipts.find(player.scope, roundId)
  if (first === null) throw new Error(`the receipt of ${roundId} is gone`)
  if (first.hash === body.hash) return first
  throw conflict('This round has another receipt.')
}

async function findReceipt({ receipts }: ReceiptsContext, caller: Caller, roundId: string) {
  for (const scope of lookupScopes(caller)) {
    const found = await receipts.find(scope, roundId)
    if (found !== null) return found
  }
  return null
}

/** The page of games that have none of their own. */
const commonPage = 'index'

/**
 * What a page showed, judged by the round. Another sentence differs, from any build; one that agrees is
 * checked only for a page that is served for the game. @param page the page of ours that sent it, if any
 */
function judgeReceipt(body: ReceiptBody, page: string | null, round: ToldRound, receivedAt: Date) {
  const told = { received_at: receivedAt.toISOString(), ...body }
  const unchecked = (reason: 'language' | 'text_version' | 'build', expected: string | null) => {
    return { state: 'UNCHECKED', reason, ...told, expected } as const
  }
  if (body.language !== roundLineLanguage) return unchecked('language', null)
  if (body.text_version !== roundLineVersion) return unchecked('text_version', null)
  const expected = roundLine(round)
  if (expected !== body.text) return { state: 'DIFFERS', reason: 'text', ...told, expected } as const
  const isServed = page === round.game || page === commonPage
  if (!isServed) return unchecked('build', expected)
  return { state: 'AGREES', reason: null, ...told, expected } as const
}
