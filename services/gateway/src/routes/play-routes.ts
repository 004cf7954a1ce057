import * as flags from '@pitboss/contracts/endpoints/flags'
import * as play from '@pitboss/contracts/endpoints/play'
import * as players from '@pitboss/contracts/endpoints/players'
import * as reconciliations from '@pitboss/contracts/endpoints/reconciliations'
import * as rounds from '@pitboss/contracts/endpoints/rounds'
import * as sessions from '@pitboss/contracts/endpoints/sessions'
import * as wallet from '@pitboss/contracts/endpoints/wallet'
import type { ErrorCode } from '@pitboss/errors/catalogue'
import { launchedSessionSchema, launchSession, reportFormat } from '../answers/completed-replies.ts'
import { sendReceipt } from '../answers/send-receipt.ts'
import { forwarded, type RouteEntry } from './route-entry.ts'

const stake = { shed: 'stake' } as const
const settles = { shed: 'never', limit: 'exempt' } as const
const report = { answer: reportFormat, alsoAnswers: 'text/csv' } as const
const byId = { byId: true } as const

const liveSwitches: readonly ErrorCode[] = ['OPERATOR_NOT_LIVE', 'REAL_MONEY_DISABLED', 'FORBIDDEN']
const walletAnswers: readonly ErrorCode[] = [
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'BET_LIMIT_EXCEEDED',
  'CURRENCY_MISMATCH',
  'WALLET_TIMEOUT',
  'WALLET_UNAVAILABLE',
  'WALLET_REJECTED',
  'WALLET_NOT_CONFIGURED',
]
const closedSession: readonly ErrorCode[] = ['SESSION_EXPIRED', 'SESSION_CLOSED']
const gameStates: readonly ErrorCode[] = ['GAME_NOT_FOUND', 'GAME_NOT_ENABLED', 'GAME_UNAVAILABLE']
const grants = {
  ...stake,
  statuses: [201],
  errors: [...gameStates, 'CURRENCY_NOT_SUPPORTED', 'BET_LIMIT_EXCEEDED', 'CONFLICT'],
  idempotent: true,
} as const
const stops = {
  example: { reason: 'self-exclusion', until: '2027-05-20T00:00:00.000Z' },
  errors: ['CONFLICT'],
} as const
const limits = {
  example: {
    limits: [
      { kind: 'loss', period: 'day', currency: 'EUR', amount: '50.00' },
      { kind: 'time', period: 'week', minutes: 600 },
    ],
    reason: 'the player asked for it',
  },
  errors: ['CURRENCY_NOT_SUPPORTED'],
} as const
const lifts = { example: { reason: 'the exclusion has ended' }, errors: ['CONFLICT'] } as const

/**
 * Sessions, rounds, games, movements, free bets and reports. Source: docs/contract.md, sections 3 to 5 and
 * 11.
 */
export const playRoutes: readonly RouteEntry[] = [
  forwarded(sessions.createSession, 'Open a session for a player and a game', {
    ...stake,
    answer: launchSession,
    example: { player_id: 'player-1', game: 'dice', currency: 'EUR', language: 'en' },
    reply: launchedSessionSchema,
    statuses: [201],
    errors: [
      ...gameStates,
      ...liveSwitches,
      'BRAND_NOT_FOUND',
      'CURRENCY_NOT_SUPPORTED',
      'WALLET_NOT_CONFIGURED',
      'PLAYER_BLOCKED',
      'CONFLICT',
    ],
    idempotent: true,
  }),
  forwarded(sessions.listSessions, 'Sessions'),
  forwarded(sessions.getSession, 'One session', { notFound: 'SESSION_NOT_FOUND' }),
  forwarded(sessions.closeSession, 'End the sitting', { ...stake, notFound: 'SESSION_NOT_FOUND' }),
  forwarded(play.getPlayerSession, 'Session, balance, open round and the next commitment'),
  forwarded(play.answerRealityCheck, 'Go on or stop after a reality check', {
    ...stake,
    example: { choice: 'continue' },
    errors: [...closedSession, 'CONFLICT'],
  }),
  forwarded(sessions.dashboardListSessions, 'Sessions'),
  forwarded(sessions.dashboardGetSession, 'One session', { ...byId, notFound: 'SESSION_NOT_FOUND' }),
  forwarded(sessions.dashboardCloseSession, 'End the sitting', {
    ...stake,
    ...byId,
    notFound: 'SESSION_NOT_FOUND',
  }),

  forwarded(rounds.listRounds, 'Rounds'),
  forwarded(rounds.getRound, 'One round', { notFound: 'ROUND_NOT_FOUND' }),
  forwarded(rounds.voidRound, 'Void a round whose stake was never taken for certain', {
    ...settles,
    notFound: 'ROUND_NOT_FOUND',
    statuses: [200, 202],
    errors: ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
  }),
  forwarded(play.listPlayerRounds, "This player's rounds of this game"),
  forwarded(play.sendReceipt, 'Tell what the page showed of a settled round', {
    answer: sendReceipt,
    notFound: 'ROUND_NOT_FOUND',
    errors: ['ROUND_IN_PROGRESS', 'CONFLICT'],
    example: {
      build: 'dice-Bx7Tq1.js',
      language: 'en',
      text_version: 2,
      text: 'Rolled 73.12. You won 1.98 EUR at 1.98×',
      hash: '1494aacc50b3b6c6146c00dfe20805f1a8e9f0f4aaf01da4bd3df0a558d59280',
    },
  }),
  forwarded(play.getPlayerRound, "One of this player's rounds", { notFound: 'ROUND_NOT_FOUND' }),
  forwarded(play.playRound, 'Play a round', {
    ...stake,
    example: {
      ...{ stake: '10.00', bet: { target: '50.00', direction: 'over' }, client_seed: 'lucky-7' },
      transaction_id: 'play-2026-11-20-0001',
    },
    statuses: [201],
    errors: [
      ...liveSwitches,
      ...gameStates,
      ...closedSession,
      ...walletAnswers,
      'CURRENCY_NOT_SUPPORTED',
      'ROUND_IN_PROGRESS',
      'TRANSACTION_CONFLICT',
      'CONFLICT',
    ],
  }),
  forwarded(play.revealTile, 'Open a tile', {
    ...settles,
    notFound: 'ROUND_NOT_FOUND',
    errors: ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
  }),
  forwarded(play.cashOut, 'Take the winnings', {
    ...settles,
    notFound: 'ROUND_NOT_FOUND',
    errors: ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
  }),
  forwarded(play.getFairnessBook, 'Commitment, reveal and end of every nonce'),
  forwarded(rounds.dashboardListRounds, 'Rounds'),
  forwarded(rounds.dashboardGetRound, 'One round', { ...byId, notFound: 'ROUND_NOT_FOUND' }),

  forwarded(players.getPlayer, 'One player: games, sessions, free bets and the sums of 30 days'),
  forwarded(players.stopPlayer, 'Stop a player: no new stake in any game', stops),
  forwarded(players.liftStop, 'Let a stopped player play again', lifts),
  forwarded(players.listStops, 'Stops of a player, newest first'),
  forwarded(players.dashboardStopPlayer, 'Stop a player: no new stake in any game', stops),
  forwarded(players.dashboardLiftStop, 'Let a stopped player play again', lifts),
  forwarded(players.dashboardListStops, 'Stops of a player, newest first'),
  forwarded(players.putLimits, 'Set the limits of a player', limits),
  forwarded(players.getLimits, 'Limits of a player, with what is left'),
  forwarded(players.dashboardPutLimits, 'Set the limits of a player', limits),
  forwarded(players.dashboardGetLimits, 'Limits of a player, with what is left'),
  forwarded(players.listNonces, 'Each nonce of a player in a game, with commitment and round', {
    errors: ['GAME_NOT_FOUND'],
  }),

  forwarded(sessions.listGames, 'The catalogue'),
  forwarded(sessions.getGame, 'One game', { notFound: 'GAME_NOT_FOUND' }),
  forwarded(sessions.patchGame, 'Switch a game on or off, set stake limits', {
    notFound: 'GAME_NOT_FOUND',
    errors: ['CURRENCY_NOT_SUPPORTED'],
  }),
  forwarded(sessions.dashboardListGames, 'The catalogue'),
  forwarded(sessions.dashboardPatchGame, 'Switch a game on or off, set stake limits', {
    notFound: 'GAME_NOT_FOUND',
    errors: ['CURRENCY_NOT_SUPPORTED', 'APPROVAL_NEEDED'],
  }),

  forwarded(rounds.placeTransaction, 'Stake, win, refund or rollback of a round that the operator drives', {
    ...stake,
    limit: 'body',
    example: {
      type: 'BET',
      transaction_id: 'bet-2026-11-20-0001',
      session_id: 'ses_01jd3v8x5q7r2m4n6p8s0t1w3y',
      amount: '10.00',
      currency: 'EUR',
    },
    statuses: [201, 200],
    errors: [
      ...liveSwitches,
      ...gameStates,
      ...closedSession,
      ...walletAnswers,
      'SESSION_NOT_FOUND',
      'ROUND_NOT_FOUND',
      'CURRENCY_NOT_SUPPORTED',
      'TRANSACTION_NOT_FOUND',
      'TRANSACTION_CONFLICT',
      'TRANSACTION_ALREADY_REVERSED',
      'ROUND_IN_PROGRESS',
      'ROUND_ALREADY_SETTLED',
      'CONFLICT',
    ],
  }),
  forwarded(wallet.listTransactions, 'Movements'),
  forwarded(wallet.getTransaction, 'One movement', { notFound: 'TRANSACTION_NOT_FOUND' }),
  forwarded(wallet.getTransactionAttempts, 'Every wallet call of a movement', {
    notFound: 'TRANSACTION_NOT_FOUND',
  }),
  forwarded(wallet.dashboardListTransactions, 'Movements'),
  forwarded(wallet.dashboardGetTransaction, 'One movement', { ...byId, notFound: 'TRANSACTION_NOT_FOUND' }),
  forwarded(wallet.dashboardGetTransactionAttempts, 'Every wallet call of a movement', {
    ...byId,
    notFound: 'TRANSACTION_NOT_FOUND',
  }),

  forwarded(rounds.createFreeBet, 'Grant free bets', grants),
  forwarded(rounds.listFreeBets, 'Free-bet grants'),
  forwarded(rounds.getFreeBet, 'One grant'),
  forwarded(rounds.cancelFreeBet, 'Cancel a grant', { ...stake, errors: ['CONFLICT'] }),
  forwarded(rounds.dashboardCreateFreeBet, 'Grant free bets', grants),
  forwarded(rounds.dashboardListFreeBets, 'Free-bet grants'),
  forwarded(rounds.dashboardGetFreeBet, 'One grant', byId),
  forwarded(rounds.dashboardCancelFreeBet, 'Cancel a grant', { ...stake, ...byId, errors: ['CONFLICT'] }),

  forwarded(rounds.getReport, 'Stakes, payouts and gross gaming revenue', report),
  forwarded(flags.listFlags, 'Movements that somebody should look at'),
  forwarded(flags.getFlag, 'One flag with its case', byId),
  forwarded(flags.patchFlag, 'Change the status of a case, add a note', {
    ...byId,
    example: { status: 'IN_REVIEW', note: 'Asked the wallet for its ledger.' },
    errors: ['CONFLICT'],
  }),
  forwarded(flags.getFlagRules, 'When flags are raised'),
  forwarded(flags.putFlagRules, 'Choose when flags are raised', { errors: ['WALLET_NOT_CONFIGURED'] }),

  forwarded(rounds.dashboardGetReport, 'Stakes, payouts and gross gaming revenue', report),
  forwarded(reconciliations.listReconciliations, "Comparisons of the operator's ledgers with ours"),
  forwarded(reconciliations.getReconciliation, 'One comparison: its progress, then its differences', byId),
  forwarded(reconciliations.cancelReconciliation, 'End a comparison that runs', byId),
  forwarded(rounds.dashboardListReturns, 'How returns to players come out, under watch'),
]
