import { listPublicKeys, listRecordKeys } from '@pitboss/contracts/calls/auth'
import { everybody } from '@pitboss/contracts/endpoint'
import { roundParam } from '@pitboss/contracts/endpoints/round-parts'
import { dossierSchema } from '@pitboss/contracts/objects/dossier'
import { overviewSchema } from '@pitboss/contracts/objects/overview'
import { reconciliationSchema } from '@pitboss/contracts/objects/reconciliation'
import {
  acceptInvitationBody,
  acceptInvitationReply,
  dashboardTokenSchema,
  loginBody,
  tokenBody,
  tokenSchema,
} from '@pitboss/contracts/objects/user'
import { walletCallbackSchema } from '@pitboss/contracts/objects/wallet-call'
import { accountMode } from '@pitboss/contracts/primitives'
import { z } from 'zod'
import { createDocs, createOpenApi } from '../answers/api-description.ts'
import { complianceReply, createCompliance } from '../answers/compliance.ts'
import {
  createAcceptInvitation,
  createLogin,
  createLogout,
  createRefresh,
} from '../answers/dashboard-session.ts'
import { createDossier } from '../answers/dossier.ts'
import { createEventTypes, eventTypesReply } from '../answers/event-types.ts'
import { createMintToken } from '../answers/mint-token.ts'
import { createOverview } from '../answers/overview.ts'
import { createDashboardPage, createHome, createPlayPage, createVerifyPage } from '../answers/pages.ts'
import {
  createHealthz,
  createPublicKeys,
  createReadyz,
  createRecordKeys,
  healthReply,
} from '../answers/probes.ts'
import { createOrderReconciliation, orderReconciliationQuery } from '../answers/order-reconciliation.ts'
import { createReconcile, reconciliationQuery } from '../answers/reconcile.ts'
import { createSearch, searchQuery, searchReply } from '../answers/search.ts'
import { createStream } from '../answers/stream.ts'
import { streamQuery } from '@pitboss/contracts/objects/tail'
import { createVerifyRound, verifyBody, verifyReply } from '../answers/verify-round.ts'
import { callbackReply, createWalletCallback } from '../answers/wallet-callback.ts'
import { own, type RouteEntry } from './route-entry.ts'

const ledgerExample =
  '{"transaction_id":"bet-2026-11-20-0001","type":"BET","amount":"10.00","currency":"EUR","player_id":"player-1"}\n'
const inEnvironment = z.strictObject({ environment: accountMode.optional() })

const page = (route: `GET /${string}`, summary: string, answer: RouteEntry['answer']) =>
  own(route, { summary, answer, query: 'any' })

const probe = (route: `GET /${string}`, summary: string, answer: RouteEntry['answer']) =>
  own(route, { summary, answer, query: 'any', reply: healthReply, shed: 'never' })

/** The routes that the gateway answers itself. Source: docs/contract.md, sections 2 to 4, 7, 9 and 11. */
export const ownRoutes: readonly RouteEntry[] = [
  own('POST /v1/auth/token', {
    summary: 'Exchange a key pair for a token',
    answer: createMintToken,
    body: tokenBody,
    reply: tokenSchema,
    limit: 'mintAddress',
    shed: 'stake',
    errors: ['INVALID_CREDENTIALS', 'IP_NOT_ALLOWED', 'OPERATOR_SUSPENDED', 'FORBIDDEN', 'RATE_LIMITED'],
  }),
  own('POST /v1/dashboard/login', {
    summary: 'Sign in to the dashboard',
    answer: createLogin,
    body: loginBody,
    reply: dashboardTokenSchema,
    limit: 'loginAddress',
    errors: ['INVALID_CREDENTIALS', 'OPERATOR_SUSPENDED', 'RATE_LIMITED'],
  }),
  own('POST /v1/dashboard/refresh', {
    summary: 'New dashboard token by the refresh cookie',
    answer: createRefresh,
    reply: dashboardTokenSchema,
    errors: ['INVALID_CREDENTIALS', 'FORBIDDEN'],
    limit: 'address',
  }),
  own('POST /v1/dashboard/logout', {
    summary: 'Sign out of the dashboard',
    answer: createLogout,
    statuses: [204],
    limit: 'address',
    errors: ['FORBIDDEN'],
  }),
  own('POST /v1/dashboard/invitations/accept', {
    summary: 'Accept an invitation',
    answer: createAcceptInvitation,
    body: acceptInvitationBody,
    reply: acceptInvitationReply,
    errors: ['INVALID_CREDENTIALS'],
    limit: 'address',
  }),

  own('GET /v1/dashboard/overview', {
    summary: 'The last 24 hours, and how wallet and deliveries stand',
    answer: createOverview,
    access: everybody,
    query: inEnvironment,
    reply: overviewSchema,
  }),
  own('GET /v1/dashboard/search', {
    summary: 'What has an id, of ours or of the operator',
    answer: createSearch,
    access: everybody,
    query: searchQuery,
    reply: searchReply,
  }),
  own('GET /v1/dashboard/stream', {
    summary: 'What happens in the account, as it happens, as server-sent events',
    answer: createStream,
    access: everybody,
    query: streamQuery,
    shed: 'tail',
    alsoAnswers: 'text/event-stream',
  }),
  own('GET /v1/dashboard/rounds/{round_id}/dossier', {
    summary: 'A round with its wallet calls, events, deliveries and proof',
    answer: createDossier,
    access: everybody,
    params: roundParam,
    notFound: 'ROUND_NOT_FOUND',
    query: inEnvironment,
    byId: true,
    reply: dossierSchema,
  }),

  own('GET /v1/public/jwks.json', {
    summary: 'Public token keys',
    answer: createPublicKeys,
    reply: listPublicKeys.reply,
    limit: 'address',
  }),
  own('GET /v1/public/record-keys.json', {
    summary: 'Public keys of signed records',
    answer: createRecordKeys,
    reply: listRecordKeys.reply,
    limit: 'address',
  }),
  own('GET /v1/public/event-types', {
    summary: 'Event types with their schemas',
    answer: createEventTypes,
    reply: eventTypesReply,
    limit: 'address',
  }),
  own('GET /v1/public/compliance', {
    summary: 'Rules of jurisdictions, each clause with its tests',
    answer: createCompliance,
    reply: complianceReply,
    limit: 'address',
  }),
  own('POST /v1/public/verify', {
    summary: 'Verify a finished round',
    answer: createVerifyRound,
    body: verifyBody,
    example: {
      game: 'dice',
      stake: '10.00',
      payout: '0.00',
      currency: 'EUR',
      outcome: { roll: '12.34', target: '50.00', direction: 'over', won: false },
      fairness: {
        algorithm: 'fair-v1',
        server_seed_hash: 'b1b2d3a4c5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90',
        client_seed: null,
        nonce: 7,
        server_seed: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      },
    },
    reply: verifyReply,
    limit: 'address',
  }),
  own('GET /v1/public/openapi.json', {
    summary: 'This description',
    answer: createOpenApi,
    reply: z.record(z.string(), z.unknown()),
    limit: 'address',
  }),
  own('POST /v1/public/wallet-callbacks/{operator_id}/{environment}', {
    summary: "A wallet's signed hint that the result of a movement is known",
    answer: createWalletCallback,
    body: 'bytes',
    unreadBody: walletCallbackSchema,
    example: { transactionId: 'bet-2026-11-20-0001', status: 'SUCCESS' },
    reply: callbackReply,
    statuses: [202],
    shed: 'stake',
    errors: ['INVALID_SIGNATURE', 'TRANSACTION_NOT_FOUND', 'NOT_FOUND'],
    limit: 'callback',
  }),
  own('POST /v1/reports/reconciliation', {
    summary: "Compare the operator's own ledger with ours",
    answer: createReconcile,
    access: { 'operator-api': 'unrestricted' },
    query: reconciliationQuery,
    body: 'raw',
    bodyType: 'application/x-ndjson',
    example: ledgerExample,
  }),
  own('POST /v1/dashboard/reports/reconciliation', {
    summary: "Compare the operator's own ledger with ours, as a job",
    answer: createOrderReconciliation,
    access: everybody,
    query: orderReconciliationQuery,
    body: 'raw',
    bodyType: 'application/x-ndjson',
    example: ledgerExample,
    reply: reconciliationSchema,
    statuses: [202],
    errors: ['CONFLICT'],
  }),

  probe('GET /healthz', 'Alive', createHealthz),
  probe('GET /readyz', 'Ready', createReadyz),
  page('GET /v1/public/verify', 'The page where a round is verified', createVerifyPage),
  page('GET /v1/public/verify/*', 'Files of that page', createVerifyPage),
  page('GET /v1/public/docs', 'This description as a page', createDocs),
  page('GET /v1/public/docs/*', 'Files of that page', createDocs),
  page('GET /play/*', 'Pages on which players play', createPlayPage),
  own('GET /', {
    summary: 'To the dashboard, for who asks for a page',
    answer: createHome,
    query: 'any',
    statuses: [302],
    errors: ['NOT_FOUND'],
  }),
  page('GET /dashboard', 'The dashboard', createDashboardPage),
  page('GET /dashboard/*', 'The dashboard', createDashboardPage),
]
