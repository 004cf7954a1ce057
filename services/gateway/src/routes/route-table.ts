import * as auth from '@pitboss/contracts/endpoints/auth'
import * as rounds from '@pitboss/contracts/endpoints/rounds'
import * as wallet from '@pitboss/contracts/endpoints/wallet'
import * as webhooks from '@pitboss/contracts/endpoints/webhooks'
import { z } from 'zod'
import type { Access, ScopeRule } from '../access/access-rule.ts'
import * as shapes from './own-shapes.ts'
import * as roles from './roles.ts'
import { forwarded, own, type RouteEntry } from './route-entry.ts'

/**
 * Every public route with who may use it, how it is limited and shed, and what answers it. A route that is not here cannot be
 * registered. Source: contract sections 2 to 5, 7, 8 and 11.
 */

const operator = (scope: ScopeRule): { access: Access } => ({ access: { 'operator-api': scope } })
const dashboard = (allowed: Access['dashboard']): { access: Access } => ({
  access: allowed === undefined ? {} : { dashboard: allowed },
})
const player = { access: { 'game-launcher': 'that session' } } as const

const session = { notFound: 'SESSION_NOT_FOUND' } as const
const round = { notFound: 'ROUND_NOT_FOUND' } as const
const movement = { notFound: 'TRANSACTION_NOT_FOUND' } as const
const game = { notFound: 'GAME_NOT_FOUND' } as const
const brand = { notFound: 'BRAND_NOT_FOUND' } as const
const byId = { byId: true } as const
const idempotent = { idempotent: true } as const
const stake = { shed: 'stake' } as const
const settles = { shed: 'never', limit: 'exempt' } as const

const signInRoutes: readonly RouteEntry[] = [
  own('POST /v1/auth/token', 'mint-token', {
    summary: 'Exchange a key pair for a token',
    body: shapes.mintBody,
    reply: shapes.mintReply,
    limit: 'mintAddress',
    shed: 'stake',
  }),
  own('POST /v1/dashboard/login', 'login', {
    summary: 'Sign in to the dashboard',
    body: shapes.loginBody,
    reply: shapes.loginReply,
    limit: 'loginAddress',
  }),
  own('POST /v1/dashboard/refresh', 'refresh', {
    summary: 'New dashboard token by the refresh cookie',
    reply: shapes.loginReply,
  }),
  own('POST /v1/dashboard/logout', 'logout', {
    summary: 'Sign out of the dashboard',
    statuses: [204],
  }),
  own('POST /v1/dashboard/invitations/accept', 'accept-invitation', {
    summary: 'Accept an invitation',
    body: shapes.acceptBody,
    reply: shapes.acceptReply,
  }),
]

const publicRoutes: readonly RouteEntry[] = [
  own('GET /v1/public/jwks.json', 'jwks', { summary: 'Public token keys', reply: shapes.jwksReply }),
  own('GET /v1/public/event-types', 'event-types', {
    summary: 'Event types with their schemas',
    reply: shapes.eventTypesReply,
  }),
  own('POST /v1/public/verify', 'verify-round', {
    summary: 'Verify a finished round',
    body: shapes.verifyBody,
    reply: shapes.verifyReply,
  }),
  own('GET /v1/public/verify', 'verify-page', { summary: 'The page where a round is verified' }),
  own('GET /v1/public/verify/*', 'verify-page', { summary: 'Files of that page' }),
  own('GET /v1/public/openapi.json', 'openapi', {
    summary: 'This description',
    reply: z.record(z.string(), z.unknown()),
  }),
  own('GET /v1/public/docs', 'docs', { summary: 'This description as a page' }),
  own('GET /v1/public/docs/*', 'docs', { summary: 'Files of that page' }),
  own('POST /v1/public/wallet-callbacks/{operator_id}/{environment}', 'wallet-callback', {
    summary: "A wallet's signed hint that the result of a movement is known",
    body: 'raw',
    reply: shapes.callbackReply,
    statuses: [202],
    shed: 'stake',
  }),
  own('GET /healthz', 'healthz', { summary: 'Alive', reply: shapes.healthReply, shed: 'never' }),
  own('GET /readyz', 'readyz', { summary: 'Ready', reply: shapes.healthReply, shed: 'never' }),
  own('GET /play/*', 'play-page', { summary: 'Pages on which players play' }),
  own('GET /dashboard', 'dashboard-page', { summary: 'The dashboard' }),
  own('GET /dashboard/*', 'dashboard-page', { summary: 'The dashboard' }),
]

const operatorRoutes: readonly RouteEntry[] = [
  forwarded(rounds.createSession, {
    ...operator('sessions:write'),
    ...stake,
    ...idempotent,
    then: 'launch-url',
  }),
  forwarded(rounds.listSessions, operator('sessions:read')),
  forwarded(rounds.getSession, { ...operator('sessions:read'), ...session }),
  forwarded(rounds.closeSession, { ...operator('sessions:write'), ...session, ...stake }),

  forwarded(rounds.placeTransaction, { ...operator('transactions:write'), ...stake, limit: 'body' }),
  forwarded(wallet.listTransactions, operator('transactions:read')),
  forwarded(wallet.getTransaction, { ...operator('transactions:read'), ...movement }),
  forwarded(wallet.getTransactionAttempts, { ...operator('transactions:read'), ...movement }),

  forwarded(rounds.listGames, operator('games:read')),
  forwarded(rounds.getGame, { ...operator('games:read'), ...game }),
  forwarded(rounds.patchGame, { ...operator('games:write'), ...game }),

  forwarded(webhooks.listEvents, operator('events:read')),
  forwarded(webhooks.getEventManifest, { ...operator('events:read'), then: 'sign-manifest' }),
  forwarded(webhooks.getEvent, operator('events:read')),
  forwarded(webhooks.listDeliveries, operator('events:read')),
  forwarded(webhooks.retryDelivery, operator('unrestricted')),

  forwarded(rounds.listRounds, operator('history:read')),
  forwarded(rounds.getRound, { ...operator('history:read'), ...round }),
  forwarded(rounds.voidRound, { ...operator('transactions:write'), ...round, ...settles }),

  forwarded(rounds.createFreeBet, { ...operator('engagement:write'), ...stake, ...idempotent }),
  forwarded(rounds.listFreeBets, operator('engagement:read')),
  forwarded(rounds.getFreeBet, operator('engagement:read')),
  forwarded(rounds.cancelFreeBet, { ...operator('engagement:write'), ...stake }),

  forwarded(rounds.getReport, { ...operator('reports:read'), then: 'report-format' }),
  own('POST /v1/reports/reconciliation', 'reconcile', {
    summary: "Compare the operator's own ledger with ours",
    ...operator('unrestricted'),
    query: shapes.reconcileQuery,
    body: 'raw',
  }),

  forwarded(auth.getBusiness, {
    access: { 'operator-api': 'unrestricted', dashboard: roles.everybody },
  }),
  forwarded(auth.patchBusiness, {
    access: { 'operator-api': 'unrestricted', dashboard: roles.ownerAndAdmin },
  }),
]

const playerRoutes: readonly RouteEntry[] = [
  forwarded(rounds.getPlayerSession, player),
  forwarded(rounds.listPlayerRounds, player),
  forwarded(rounds.getPlayerRound, { ...player, ...round }),
  forwarded(rounds.playRound, { ...player, ...stake }),
  forwarded(rounds.revealTile, { ...player, ...round, ...settles }),
  forwarded(rounds.cashOut, { ...player, ...round, ...settles }),
  forwarded(rounds.getFairnessBook, player),
]

const dashboardRoutes: readonly RouteEntry[] = [
  forwarded(auth.getMe, dashboard(roles.everybody)),
  forwarded(auth.changePassword, dashboard(roles.everybody)),
  forwarded(auth.enrolTotp, dashboard(roles.everybody)),
  forwarded(auth.confirmTotp, dashboard(roles.everybody)),
  forwarded(auth.removeTotp, dashboard(roles.everybody)),

  forwarded(auth.listUsers, dashboard(roles.ownerAndAdmin)),
  forwarded(auth.inviteUser, { ...dashboard(roles.ownerAlone), ...idempotent }),
  forwarded(auth.patchUser, dashboard(roles.ownerAlone)),
  forwarded(auth.removeUser, dashboard(roles.ownerAlone)),

  forwarded(auth.listCredentials, dashboard(roles.builders)),
  forwarded(auth.createCredential, { ...dashboard(roles.builders), ...idempotent }),
  forwarded(auth.getCredential, { ...dashboard(roles.builders), ...byId }),
  forwarded(auth.patchCredential, { ...dashboard(roles.builders), ...byId }),
  forwarded(auth.rotateCredential, { ...dashboard(roles.builders), ...byId }),
  forwarded(auth.revokeCredential, { ...dashboard(roles.builders), ...byId }),
  forwarded(auth.deleteCredential, { ...dashboard(roles.builders), ...byId }),

  forwarded(auth.listBrands, dashboard(roles.everybody)),
  forwarded(auth.createBrand, { ...dashboard(roles.ownerAndAdmin), ...idempotent }),
  forwarded(auth.deleteBrand, { ...dashboard(roles.ownerAndAdmin), ...brand }),
  forwarded(auth.listRequestLogs, dashboard(roles.builders)),

  forwarded(wallet.getWallet, dashboard(roles.builders)),
  forwarded(wallet.putWallet, dashboard(roles.builders)),
  forwarded(wallet.rotateWalletSecret, dashboard(roles.builders)),
  forwarded(wallet.checkWallet, dashboard(roles.builders)),

  forwarded(rounds.dashboardListGames, dashboard(roles.everybody)),
  forwarded(rounds.dashboardPatchGame, { ...dashboard(roles.ownerAndAdmin), ...game }),
  forwarded(rounds.dashboardListSessions, dashboard(roles.everybody)),
  forwarded(rounds.dashboardGetSession, { ...dashboard(roles.everybody), ...session, ...byId }),
  forwarded(rounds.dashboardListRounds, dashboard(roles.everybody)),
  forwarded(rounds.dashboardGetRound, { ...dashboard(roles.everybody), ...round, ...byId }),
  forwarded(wallet.dashboardListTransactions, dashboard(roles.everybody)),
  forwarded(wallet.dashboardGetTransaction, { ...dashboard(roles.everybody), ...movement, ...byId }),
  forwarded(wallet.dashboardGetTransactionAttempts, {
    ...dashboard(roles.everybody),
    ...movement,
    ...byId,
  }),
  forwarded(rounds.dashboardGetReport, { ...dashboard(roles.everybody), then: 'report-format' }),

  forwarded(webhooks.dashboardListEvents, dashboard(roles.everybody)),
  forwarded(webhooks.dashboardGetEvent, { ...dashboard(roles.everybody), ...byId }),
  forwarded(webhooks.dashboardListDeliveries, dashboard(roles.everybody)),
  forwarded(webhooks.dashboardGetDelivery, { ...dashboard(roles.everybody), ...byId }),
  forwarded(webhooks.dashboardRetryDelivery, { ...dashboard(roles.deliveryRetriers), ...byId }),

  forwarded(webhooks.listWebhooks, dashboard(roles.builders)),
  forwarded(webhooks.createWebhook, { ...dashboard(roles.builders), ...idempotent }),
  forwarded(webhooks.getWebhook, { ...dashboard(roles.builders), ...byId }),
  forwarded(webhooks.patchWebhook, { ...dashboard(roles.builders), ...byId }),
  forwarded(webhooks.deleteWebhook, { ...dashboard(roles.builders), ...byId }),
  forwarded(webhooks.rotateWebhookSecret, { ...dashboard(roles.builders), ...byId }),
  forwarded(webhooks.testWebhook, { ...dashboard(roles.builders), ...byId }),
  forwarded(webhooks.pauseWebhook, { ...dashboard(roles.builders), ...byId }),
  forwarded(webhooks.resumeWebhook, { ...dashboard(roles.builders), ...byId }),
  forwarded(webhooks.createReplay, { ...dashboard(roles.builders), ...byId, ...idempotent }),
  forwarded(webhooks.listReplays, { ...dashboard(roles.builders), ...byId }),
  forwarded(webhooks.getReplay, { ...dashboard(roles.builders), ...byId }),
  forwarded(webhooks.cancelReplay, { ...dashboard(roles.builders), ...byId }),
]

export const routeTable: readonly RouteEntry[] = [
  ...signInRoutes,
  ...publicRoutes,
  ...operatorRoutes,
  ...playerRoutes,
  ...dashboardRoutes,
]
