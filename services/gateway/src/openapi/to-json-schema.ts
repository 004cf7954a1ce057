import { auditRecordSchema } from '@pitboss/contracts/audit'
import * as approvals from '@pitboss/contracts/endpoints/approvals'
import * as auth from '@pitboss/contracts/endpoints/auth'
import * as flags from '@pitboss/contracts/endpoints/flags'
import * as people from '@pitboss/contracts/endpoints/people'
import * as rounds from '@pitboss/contracts/endpoints/rounds'
import * as play from '@pitboss/contracts/endpoints/play'
import * as players from '@pitboss/contracts/endpoints/players'
import * as sessions from '@pitboss/contracts/endpoints/sessions'
import * as wallet from '@pitboss/contracts/endpoints/wallet'
import * as webhooks from '@pitboss/contracts/endpoints/webhooks'
import * as events from '@pitboss/contracts/endpoints/events'
import { approvalSchema } from '@pitboss/contracts/objects/approval'
import * as account from '@pitboss/contracts/objects/account'
import * as webhook from '@pitboss/contracts/objects/webhook'
import { eventEnvelopeSchema, eventType, webhookTestSchema } from '@pitboss/contracts/objects/event'
import * as flag from '@pitboss/contracts/objects/flag'
import * as game from '@pitboss/contracts/objects/game'
import * as movement from '@pitboss/contracts/objects/movement'
import * as player from '@pitboss/contracts/objects/player'
import { reportSchema } from '@pitboss/contracts/objects/report'
import { fairnessSchema, gameBet, gameOutcome, roundSchema } from '@pitboss/contracts/objects/round'
import * as session from '@pitboss/contracts/objects/session'
import * as user from '@pitboss/contracts/objects/user'
import * as walletObjects from '@pitboss/contracts/objects/wallet'
import * as walletCalls from '@pitboss/contracts/objects/wallet-call'
import { z } from 'zod'
import { launchedSessionSchema, signedManifestSchema } from '../answers/completed-replies.ts'
import { verifyReply } from '../answers/verify-round.ts'
import { variantsOf } from './variants.ts'
import type { JsonSchema } from './example-of.ts'

/**
 * The public shapes by their type name in a generated client; a request's name ends in `Body`. Source: ours.
 */
const components = {
  Approval: approvalSchema,
  ApprovalPage: approvals.listApprovals.reply,
  AuditPage: auth.listAudit.reply,
  AuditRecord: auditRecordSchema,
  Bet: gameBet,
  Brand: account.brandSchema,
  BrandPage: auth.listBrands.reply,
  Business: account.businessSchema,
  ChangeBusinessBody: account.businessPatchSchema,
  ChangeCredentialBody: account.credentialPatchSchema,
  ChangeGameBody: game.gamePatchSchema,
  ChangeWebhookBody: webhook.webhookPatchSchema,
  CreateCredentialBody: account.credentialCreateSchema,
  CreateFreeBetBody: game.freeBetCreateSchema,
  CreateReplayBody: webhooks.createReplay.body,
  CreateSessionBody: session.sessionCreateSchema,
  CreateUserBody: people.inviteUser.body,
  CreateViewBody: account.viewCreateSchema,
  CreateWebhookBody: webhook.webhookCreateSchema,
  Credential: account.credentialSchema,
  CredentialPage: auth.listCredentials.reply,
  DashboardToken: user.dashboardTokenSchema,
  Delivery: webhook.deliverySchema,
  DeliveryAttempt: webhook.deliveryAttemptSchema,
  DeliveryDetail: webhook.deliveryDetailSchema,
  DeliveryPage: webhooks.listDeliveries.reply,
  Event: eventEnvelopeSchema,
  EventManifest: signedManifestSchema,
  EventPage: events.listEvents.reply,
  EventType: eventType,
  Fairness: fairnessSchema,
  FairnessEntry: play.fairnessBookEntry,
  FairnessEntryPage: play.getFairnessBook.reply,
  Flag: flag.flagSchema,
  FlagCase: flag.flagCaseSchema,
  FlagPage: flags.listFlags.reply,
  FlagRules: flag.flagRulesSchema,
  FreeBet: game.freeBetSchema,
  FreeBetPage: rounds.listFreeBets.reply,
  Game: game.gameSchema,
  GamePage: sessions.listGames.reply,
  LaunchedSession: launchedSessionSchema,
  LoginBody: user.loginBody,
  Outcome: gameOutcome,
  PlayRoundBody: play.playRound.body,
  Player: player.playerSchema,
  PlayerNonce: player.nonceSchema,
  PlayerNoncePage: players.listNonces.reply,
  PlayerSession: play.playerSessionSchema,
  Replay: webhook.replayJobSchema,
  ReplayPage: webhooks.listReplays.reply,
  Report: reportSchema,
  RequestLog: account.requestLogSchema,
  RequestLogPage: auth.listRequestLogs.reply,
  Round: roundSchema,
  RoundPage: rounds.listRounds.reply,
  Session: session.sessionSchema,
  SessionPage: sessions.listSessions.reply,
  Token: user.tokenSchema,
  TokenBody: user.tokenBody,
  Transaction: movement.movementSchema,
  TransactionAttempt: movement.movementAttemptSchema,
  TransactionAttemptPage: wallet.getTransactionAttempts.reply,
  TransactionBody: movement.transactionBodySchema,
  TransactionPage: wallet.listTransactions.reply,
  User: user.userSchema,
  UserPage: people.listUsers.reply,
  Verification: verifyReply,
  View: account.viewSchema,
  ViewPage: auth.listViews.reply,
  Wallet: walletObjects.walletSchema,
  WalletAnswer: walletCalls.walletAnswerSchema,
  WalletBalanceCall: walletCalls.walletBalanceCallSchema,
  WalletBody: walletObjects.walletPutSchema,
  WalletCheck: walletObjects.walletCheckSchema,
  WalletMovementCall: walletCalls.walletMovementCallSchema,
  Webhook: webhook.webhookEndpointSchema,
  WebhookPage: webhooks.listWebhooks.reply,
  WebhookTest: webhookTestSchema,
} as const

/** Names of the shapes that openapi.json describes once, under `components`. */
const componentNames = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(components)) {
  if (schema !== undefined) componentNames.add(schema, { id })
}

/** For shapes that stay whole: they are open inside, too. */
const noNames = z.registry<{ id: string }>()

/**
 * JSON Schema (draft 2020-12, as in OpenAPI 3.1) of the value that a caller sends (`input`) or gets
 * (`output`).
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const override = (node: SchemaNode) => replaceByVariants(node, inFull)
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override })
  return rest
}

export type SchemaWriter = {
  /**
   * The same as `toJsonSchema`, but named shapes are references. @throws Error for a name with two shapes.
   */
  write(schema: z.ZodType, io: 'input' | 'output'): JsonSchema
  /** Every named shape that was written so far, by its name. */
  named(): Readonly<Record<string, JsonSchema>>
}

/** Writes the schemas of one OpenAPI document. */
export function createSchemaWriter(): SchemaWriter {
  const named = new Map<string, string>()

  function name(id: string, definition: JsonSchema): void {
    const text = JSON.stringify(definition)
    if ((named.get(id) ?? text) !== text) throw new Error(`${id} names two shapes`)
    named.set(id, text)
  }

  function writeWith(
    metadata: typeof componentNames | typeof noNames,
    schema: z.ZodType,
    io: 'input' | 'output',
  ): JsonSchema {
    const met = new Map<string, Shape>()
    const override = (node: SchemaNode) => {
      if (io === 'input') tellDefault(node)
      tellFormat(node)
      replaceByVariants(node, (id, shape) => {
        met.set(id, shape)
        return { $ref: `#/components/schemas/${id}` }
      })
    }
    const options = { io, unrepresentable: 'any', metadata, override } as const
    const { $schema: _dialect, $defs = {}, ...rest } = toReferences(z.toJSONSchema(schema, options))
    for (const [id, definition] of Object.entries(definitions.parse($defs))) name(id, definition)
    for (const [id, shape] of met) {
      if (named.has(id)) continue
      name(id, shape instanceof z.ZodType ? openSchema(writeWith(noNames, shape, io)) : shape)
    }
    return rest
  }

  return {
    write: (schema, io) => writeWith(componentNames, schema, io),
    named: () =>
      Object.fromEntries(
        [...named]
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([id, text]) => [id, object.parse(JSON.parse(text))]),
      ),
  }
}

type SchemaNode = {
  readonly zodSchema: z.core.$ZodType
  readonly jsonSchema: { default?: unknown; description?: string; [key: string]: unknown }
}
type Shape = z.ZodType | JsonSchema

const inFull = (_id: string, shape: Shape): JsonSchema =>
  shape instanceof z.ZodType ? openSchema(toJsonSchema(shape, 'output')) : shape

/** Puts the shapes by game, or by type, where zod knows an object alone. */
function replaceByVariants(
  { zodSchema, jsonSchema }: SchemaNode,
  show: (id: string, shape: Shape) => JsonSchema,
) {
  const variants = variantsOf.get(zodSchema)
  if (variants === undefined) return
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
  jsonSchema[variants.by] = [...variants.shapes].map(([id, shape]) => show(id, shape))
}

/** Says the format that a shape says of itself, beside the names of the shapes. */
function tellFormat({ zodSchema, jsonSchema }: SchemaNode): void {
  const { format } = z.globalRegistry.get(zodSchema) ?? {}
  if (format !== undefined) jsonSchema.format = format
}

/**
 * Says a default in words: generators of clients take a property that has one for a property that is always
 * there, and ask their users for it.
 */
function tellDefault({ jsonSchema }: SchemaNode): void {
  const { default: value, description } = jsonSchema
  delete jsonSchema.default
  // Null is what a release that does not say it yet means.
  if (value === undefined || value === null) return
  const said = `By default ${JSON.stringify(value)}.`
  jsonSchema.description = description === undefined ? said : `${description} ${said}`
}

/**
 * A schema that takes fields beside its own: what receivers do not know is additive. Source:
 * docs/contract.md, section 7.
 */
export function openSchema(schema: JsonSchema): Record<string, unknown> {
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    const entries = Object.entries(node).filter(
      ([key, value]) => key !== 'additionalProperties' || value !== false,
    )
    return Object.fromEntries(entries.map(([key, value]) => [key, walk(value)]))
  }
  return object.parse(walk(schema))
}

const object = z.record(z.string(), z.unknown())
const definitions = z.record(z.string(), object)

function toReferences(schema: unknown): Record<string, unknown> {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')
  return object.parse(JSON.parse(text))
}
