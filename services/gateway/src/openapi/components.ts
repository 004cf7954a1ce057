import * as auth from '@pitboss/contracts/endpoints/auth'
import * as rounds from '@pitboss/contracts/endpoints/rounds'
import * as wallet from '@pitboss/contracts/endpoints/wallet'
import * as webhooks from '@pitboss/contracts/endpoints/webhooks'
import * as business from '@pitboss/contracts/objects/business'
import * as credential from '@pitboss/contracts/objects/credential'
import * as delivery from '@pitboss/contracts/objects/delivery'
import { eventEnvelopeSchema, eventType } from '@pitboss/contracts/objects/event'
import * as freeBet from '@pitboss/contracts/objects/free-bet'
import * as game from '@pitboss/contracts/objects/game'
import * as movement from '@pitboss/contracts/objects/movement'
import { fairnessSchema, roundSchema } from '@pitboss/contracts/objects/round'
import * as session from '@pitboss/contracts/objects/session'
import * as token from '@pitboss/contracts/objects/token'
import { userSchema } from '@pitboss/contracts/objects/user'
import * as walletObjects from '@pitboss/contracts/objects/wallet'
import * as webhook from '@pitboss/contracts/objects/webhook-endpoint'
import { z } from 'zod'
import * as own from '../routes/own-shapes.ts'

/**
 * The public shapes by their type name in a generated client; a request's name ends in `Body`. Source: ours.
 */
const components = {
  Brand: business.brandSchema,
  BrandPage: auth.listBrands.reply,
  Business: business.businessSchema,
  ChangeBusinessBody: business.businessPatchSchema,
  ChangeCredentialBody: credential.credentialPatchSchema,
  ChangeGameBody: game.gamePatchSchema,
  ChangeWebhookBody: webhook.webhookPatchSchema,
  CreateCredentialBody: credential.credentialCreateSchema,
  CreateFreeBetBody: freeBet.freeBetCreateSchema,
  CreateReplayBody: webhooks.createReplay.body,
  CreateSessionBody: session.sessionCreateSchema,
  CreateUserBody: auth.inviteUser.body,
  CreateWebhookBody: webhook.webhookCreateSchema,
  Credential: credential.credentialSchema,
  CredentialPage: auth.listCredentials.reply,
  DashboardToken: token.dashboardTokenSchema,
  Delivery: delivery.deliverySchema,
  DeliveryAttempt: delivery.deliveryAttemptSchema,
  DeliveryDetail: delivery.deliveryDetailSchema,
  DeliveryPage: webhooks.listDeliveries.reply,
  Event: eventEnvelopeSchema,
  EventManifest: webhooks.getEventManifest.answer,
  EventPage: webhooks.listEvents.reply,
  EventType: eventType,
  Fairness: fairnessSchema,
  FairnessEntry: rounds.fairnessBookEntry,
  FairnessEntryPage: rounds.getFairnessBook.reply,
  FreeBet: freeBet.freeBetSchema,
  FreeBetPage: rounds.listFreeBets.reply,
  Game: game.gameSchema,
  GamePage: rounds.listGames.reply,
  LaunchedSession: session.launchedSessionSchema,
  LoginBody: token.loginBody,
  PlayRoundBody: rounds.playRound.body,
  PlayerSession: rounds.playerSessionSchema,
  Replay: webhook.replayJobSchema,
  ReplayPage: webhooks.listReplays.reply,
  Report: rounds.reportSchema,
  RequestLog: auth.requestLogSchema,
  RequestLogPage: auth.listRequestLogs.reply,
  Round: roundSchema,
  RoundPage: rounds.listRounds.reply,
  Session: session.sessionSchema,
  SessionPage: rounds.listSessions.reply,
  Token: token.tokenSchema,
  TokenBody: token.tokenBody,
  Transaction: movement.movementSchema,
  TransactionAttempt: movement.movementAttemptSchema,
  TransactionAttemptPage: wallet.getTransactionAttempts.reply,
  TransactionBody: movement.transactionBodySchema,
  TransactionPage: wallet.listTransactions.reply,
  User: userSchema,
  UserPage: auth.listUsers.reply,
  Verification: own.verifyReply,
  Wallet: walletObjects.walletSchema,
  WalletBody: walletObjects.walletPutSchema,
  WalletCheck: walletObjects.walletCheckSchema,
  Webhook: webhook.webhookEndpointSchema,
  WebhookPage: webhooks.listWebhooks.reply,
} as const

/** Names of the shapes that openapi.json describes once, under `components`. */
export const componentNames = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(components)) {
  if (schema !== undefined) componentNames.add(schema, { id })
}
