import type { CallContext } from '@pitboss/contracts/call'
import type { Caller } from '@pitboss/contracts/caller'
import { findWebhookCertification } from '@pitboss/contracts/calls/dashboard'
import { getApproval } from '@pitboss/contracts/endpoints/approvals'
import { getCredential } from '@pitboss/contracts/endpoints/auth'
import { dashboardGetEvent } from '@pitboss/contracts/endpoints/events'
import { getFlag } from '@pitboss/contracts/endpoints/flags'
import { getReconciliation } from '@pitboss/contracts/endpoints/reconciliations'
import { dashboardGetRound, dashboardListRounds } from '@pitboss/contracts/endpoints/rounds'
import { dashboardGetSession, dashboardListSessions } from '@pitboss/contracts/endpoints/sessions'
import { dashboardGetTransaction, getWalletCertification } from '@pitboss/contracts/endpoints/wallet'
import { dashboardGetDelivery, getWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { toAccountMode, toEventEnvironment, transactionId } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { z } from 'zod'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'
import { callerOf } from './forward.ts'
import { mayRead } from './overview.ts'

/** An id of ours, or one that the operator or the wallet has chosen. */
export const searchQuery = z.strictObject({ id: z.string().trim().min(1).max(128) })

const kinds = [
  'session',
  'round',
  'transaction',
  'event',
  'delivery',
  'endpoint',
  'key',
  'flag',
  'approval',
  'reconciliation',
  'certification',
  'player',
] as const
export const searchReply = z.strictObject({
  data: z.array(
    z.strictObject({
      type: z.enum(kinds),
      id: z.string(),
      environment: z.enum(['SANDBOX', 'LIVE']),
      /** The endpoint of a certification, whose page is below that of the endpoint. */
      webhook_id: z.string().optional(),
    }),
  ),
})
type Found = z.infer<typeof searchReply>['data'][number]
type Asked = { readonly bus: AnswerDeps['bus']; readonly caller: Caller; readonly context: CallContext }
type Lookup = (asked: Asked, id: string) => Promise<Found | Found[] | null>

const environments = ['SANDBOX', 'LIVE'] as const
/** The newest of the rounds that pages of several players have asked for under one id. */
const roundsMax = 10

/**
 * `GET /v1/dashboard/search?id=`: what has that id, in both environments. The prefix of an id of ours says
 * where to look; every text is looked for as a transaction's id, as that of a page's request and as a
 * player. What the role may not read is not found. Source: docs/contract.md, section 3, "Search".
 */
export function createSearch({ bus }: Pick<AnswerDeps, 'bus'>) {
  return async (inbound: Inbound<unknown, z.infer<typeof searchQuery>>): Promise<Answer> => {
    const caller = { ...callerOf(inbound), eitherEnvironment: true }
    const asked = { bus, caller, context: inbound.context }
    const { id } = inbound.query
    const byPrefix = prefixes.find(([prefix]) => id.startsWith(prefix))?.[1]
    const lookups = [
      ...(byPrefix === undefined ? [] : [byPrefix]),
      ...environments.flatMap((environment) => [
        transactionIn(environment),
        openedIn(environment),
        playerIn(environment),
      ]),
    ]
    const found = await Promise.all(lookups.map((lookup) => orNothing(lookup(asked, id))))
    return { status: 200, json: { data: found.flatMap((one) => one ?? []) } }
  }
}

const prefixes: readonly (readonly [string, Lookup])[] = [
  [
    'ses_',
    async ({ bus, caller, context }, session_id) => {
      const request = { caller, params: { session_id }, query: {}, body: undefined }
      const { body } = await bus.call(dashboardGetSession.call, request, context)
      return { type: 'session', id: session_id, environment: body.environment }
    },
  ],
  [
    'rnd_',
    async ({ bus, caller, context }, round_id) => {
      const request = { caller, params: { round_id }, query: {}, body: undefined }
      const { body } = await bus.call(dashboardGetRound.call, request, context)
      return { type: 'round', id: round_id, environment: body.environment }
    },
  ],
  [
    'evt_',
    async ({ bus, caller, context }, event_id) => {
      const request = { caller, params: { event_id }, query: {}, body: undefined }
      const { body } = await bus.call(dashboardGetEvent.call, request, context)
      return { type: 'event', id: event_id, environment: body.environment }
    },
  ],
  [
    'dlv_',
    async (asked, delivery_id) => {
      for (const environment of environments) {
        const caller = within(asked.caller, environment)
        const request = { caller, params: { delivery_id }, query: {}, body: undefined }
        const reply = asked.bus.call(dashboardGetDelivery.call, request, asked.context)
        if ((await orNothing(reply)) !== null) return { type: 'delivery', id: delivery_id, environment }
      }
      return null
    },
  ],
  [
    'whe_',
    async ({ bus, caller, context }, webhook_id) => {
      if (!mayRead(caller, getWebhook.access)) return null
      const request = { caller, params: { webhook_id }, query: {}, body: undefined }
      const { body } = await bus.call(getWebhook.call, request, context)
      return { type: 'endpoint', id: webhook_id, environment: toEventEnvironment(body.environment) }
    },
  ],
  [
    'flg_',
    async ({ bus, caller, context }, flag_id) => {
      const request = { caller, params: { flag_id }, query: {}, body: undefined }
      const { body } = await bus.call(getFlag.call, request, context)
      return { type: 'flag', id: flag_id, environment: body.environment }
    },
  ],
  [
    'apr_',
    async ({ bus, caller, context }, approval_id) => {
      if (!mayRead(caller, getApproval.access)) return null
      const request = { caller, params: { approval_id }, query: {}, body: undefined }
      await bus.call(getApproval.call, request, context)
      // Of the account; what it is about is the LIVE environment's or both.
      return { type: 'approval', id: approval_id, environment: 'LIVE' }
    },
  ],
  [
    'rcn_',
    async (asked, reconciliation_id) => {
      for (const environment of environments) {
        const caller = within(asked.caller, environment)
        const query = { environment: toAccountMode(environment) }
        const request = { caller, params: { reconciliation_id }, query, body: undefined }
        const reply = asked.bus.call(getReconciliation.call, request, asked.context)
        if ((await orNothing(reply)) !== null)
          return { type: 'reconciliation', id: reconciliation_id, environment }
      }
      return null
    },
  ],
  ['crt_', findCertification],
  [
    'ck_',
    async ({ bus, caller, context }, api_key) => {
      if (!mayRead(caller, getCredential.access)) return null
      const request = { caller, params: { api_key }, query: {}, body: undefined }
      const { body } = await bus.call(getCredential.call, request, context)
      return { type: 'key', id: api_key, environment: toEventEnvironment(body.environment) }
    },
  ],
]

/** A certification of the TEST wallet, or of the receiver of a TEST endpoint. */
async function findCertification(asked: Asked, certification_id: string): Promise<Found | null> {
  if (!mayRead(asked.caller, getWalletCertification.access)) return null
  const { bus, context } = asked
  const caller = within(asked.caller, 'SANDBOX')
  const found = { type: 'certification', id: certification_id, environment: 'SANDBOX' } as const
  const params = { environment: 'TEST', certification_id } as const
  const ofWallet = { caller, params, query: {}, body: undefined }
  const [wallet, receiver] = await Promise.all([
    orNothing(bus.call(getWalletCertification.call, ofWallet, context)),
    orNothing(bus.call(findWebhookCertification, { caller, certificationId: certification_id }, context)),
  ])
  if (wallet !== null) return found
  return receiver === null ? null : { ...found, webhook_id: receiver.webhookId }
}

function transactionIn(environment: Found['environment']): Lookup {
  return async ({ bus, caller, context }, transaction_id) => {
    const scoped = within(caller, environment)
    const request = { caller: scoped, params: { transaction_id }, query: {}, body: undefined }
    await bus.call(dashboardGetTransaction.call, request, context)
    return { type: 'transaction', id: transaction_id, environment }
  }
}

/** Rounds that pages have asked for under an id of their own. */
function openedIn(environment: Found['environment']): Lookup {
  return async ({ bus, caller, context }, client_transaction_id) => {
    if (!transactionId.safeParse(client_transaction_id).success) return null
    const query = { environment: toAccountMode(environment), client_transaction_id, limit: roundsMax }
    const request = { caller: within(caller, environment), params: {}, query, body: undefined }
    const { body } = await bus.call(dashboardListRounds.call, request, context)
    return body.data.map(({ round_id }) => ({ type: 'round', id: round_id, environment }))
  }
}

/** A player is known by his sessions; a round without one is looked for, too. */
function playerIn(environment: Found['environment']): Lookup {
  return async ({ bus, caller, context }, player_id) => {
    const scoped = within(caller, environment)
    const query = { environment: toAccountMode(environment), player_id, limit: 1 }
    const request = { caller: scoped, params: {}, query, body: undefined }
    const [sessions, rounds] = await Promise.all([
      bus.call(dashboardListSessions.call, request, context),
      bus.call(dashboardListRounds.call, request, context),
    ])
    const isKnown = sessions.body.data.length + rounds.body.data.length > 0
    return isKnown ? { type: 'player', id: player_id, environment } : null
  }
}

function within(caller: Caller, environment: Found['environment']): Caller {
  return { ...caller, scope: { ...caller.scope, environment }, eitherEnvironment: false }
}

const unknown = new Set(['NOT_FOUND', 'SESSION_NOT_FOUND', 'ROUND_NOT_FOUND', 'TRANSACTION_NOT_FOUND'])

/** Null for what is not found. @throws ServiceError any other refusal */
async function orNothing<Reply>(reply: Promise<Reply>): Promise<Reply | null> {
  try {
    return await reply
  } catch (error) {
    if (error instanceof ServiceError && unknown.has(error.code)) return null
    throw error
  }
}
