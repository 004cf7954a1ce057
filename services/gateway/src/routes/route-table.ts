import * as auth from '@pitboss/contracts/endpoints/auth'
import * as people from '@pitboss/contracts/endpoints/people'
import * as rounds from '@pitboss/contracts/endpoints/rounds'
import * as sessions from '@pitboss/contracts/endpoints/sessions'
import * as play from '@pitboss/contracts/endpoints/play'
import * as wallet from '@pitboss/contracts/endpoints/wallet'
import * as webhooks from '@pitboss/contracts/endpoints/webhooks'
import * as events from '@pitboss/contracts/endpoints/events'
import { launchSession, reportFormat, signManifest } from '../answers/completed-replies.ts'
import { ownRoutes } from './own-routes.ts'
import { forwarded, type RouteEntry } from './route-entry.ts'

const stake = { shed: 'stake' } as const
const settles = { shed: 'never', limit: 'exempt' } as const
const report = { answer: reportFormat, alsoAnswers: 'text/csv' } as const

/**
 * Every public route. Its path, its tokens, its shapes and its errors are the endpoint's; a row says how it
 * is limited and shed, and what answers it. A route that is not here cannot be registered. Source:
 * docs/contract.md, sections 2 to 5, 7, 8 and 11.
 */
export const routeTable: readonly RouteEntry[] = [
  ...ownRoutes,

  forwarded(sessions.createSession, { ...stake, answer: launchSession }),
  forwarded(sessions.listSessions),
  forwarded(sessions.getSession),
  forwarded(sessions.closeSession, stake),
  forwarded(play.getPlayerSession),
  forwarded(sessions.dashboardListSessions),
  forwarded(sessions.dashboardGetSession),

  forwarded(rounds.listRounds),
  forwarded(rounds.getRound),
  forwarded(rounds.voidRound, settles),
  forwarded(play.listPlayerRounds),
  forwarded(play.getPlayerRound),
  forwarded(play.playRound, stake),
  forwarded(play.revealTile, settles),
  forwarded(play.cashOut, settles),
  forwarded(play.getFairnessBook),
  forwarded(rounds.dashboardListRounds),
  forwarded(rounds.dashboardGetRound),

  forwarded(sessions.listGames),
  forwarded(sessions.getGame),
  forwarded(sessions.patchGame),
  forwarded(sessions.dashboardListGames),
  forwarded(sessions.dashboardPatchGame),

  forwarded(rounds.placeTransaction, { ...stake, limit: 'body' }),
  forwarded(wallet.listTransactions),
  forwarded(wallet.getTransaction),
  forwarded(wallet.getTransactionAttempts),
  forwarded(wallet.dashboardListTransactions),
  forwarded(wallet.dashboardGetTransaction),
  forwarded(wallet.dashboardGetTransactionAttempts),

  forwarded(rounds.createFreeBet, stake),
  forwarded(rounds.listFreeBets),
  forwarded(rounds.getFreeBet),
  forwarded(rounds.cancelFreeBet, stake),

  forwarded(rounds.getReport, report),
  forwarded(rounds.dashboardGetReport, report),

  forwarded(events.listEvents),
  forwarded(events.getEventManifest, { answer: signManifest }),
  forwarded(events.getEvent),
  forwarded(events.dashboardListEvents),
  forwarded(events.dashboardGetEvent),

  forwarded(webhooks.listDeliveries),
  forwarded(webhooks.retryDelivery),
  forwarded(webhooks.dashboardListDeliveries),
  forwarded(webhooks.dashboardGetDelivery),
  forwarded(webhooks.dashboardRetryDelivery),

  forwarded(webhooks.listWebhooks),
  forwarded(webhooks.createWebhook),
  forwarded(webhooks.getWebhook),
  forwarded(webhooks.patchWebhook),
  forwarded(webhooks.deleteWebhook),
  forwarded(webhooks.rotateWebhookSecret),
  forwarded(webhooks.testWebhook),
  forwarded(webhooks.pauseWebhook),
  forwarded(webhooks.resumeWebhook),
  forwarded(webhooks.createReplay),
  forwarded(webhooks.listReplays),
  forwarded(webhooks.getReplay),
  forwarded(webhooks.cancelReplay),

  forwarded(wallet.getWallet),
  forwarded(wallet.putWallet),
  forwarded(wallet.rotateWalletSecret),
  forwarded(wallet.checkWallet),

  forwarded(auth.listCredentials),
  forwarded(auth.createCredential),
  forwarded(auth.getCredential),
  forwarded(auth.patchCredential),
  forwarded(auth.rotateCredential),
  forwarded(auth.revokeCredential),
  forwarded(auth.deleteCredential),

  forwarded(people.getMe),
  forwarded(people.changePassword),
  forwarded(people.enrolTotp),
  forwarded(people.confirmTotp),
  forwarded(people.removeTotp),
  forwarded(people.listOwnSessions),
  forwarded(people.endOwnSession),
  forwarded(people.listUsers),
  forwarded(people.inviteUser),
  forwarded(people.patchUser),
  forwarded(people.removeUser),

  forwarded(auth.getBusiness),
  forwarded(auth.patchBusiness),
  forwarded(auth.listBrands),
  forwarded(auth.createBrand),
  forwarded(auth.deleteBrand),
  forwarded(auth.listRequestLogs),
  forwarded(auth.listAudit),
]
