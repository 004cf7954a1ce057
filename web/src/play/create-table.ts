import { receiptHash, type ShownRound } from '@pitboss/fairness/receipt'
import { roundLineVersion } from '@pitboss/fairness/round-line'
import { type ApiError, asApiError, errorText, isTokenError } from '../api/api-error.ts'
import type { CheckChoice, GameApi, PlayRequest } from '../api/game-api.ts'
import type { Round, Sitting } from '../api/records.ts'
import { createPatience, delay } from './create-patience.ts'
import { createTableTimers } from './create-table-timers.ts'
import { emptyTable, isOver, takesActions, takesBets, type TableState } from './table-state.ts'

const historyKeptMax = 200

const walletCodes = new Set(['WALLET_TIMEOUT', 'WALLET_UNAVAILABLE'])

type Bet = Pick<PlayRequest, 'stake' | 'bet' | 'client_seed' | 'free_bet'>

export type Table = {
  readonly state: () => TableState
  subscribe(listener: () => void): () => void
  open(): Promise<void>
  place(bet: Bet): Promise<void>
  reveal(tile: number): Promise<void>
  cashOut(): Promise<void>
  answerCheck(choice: CheckChoice): Promise<void>
  moreHistory(): Promise<void>
  /** Tells the service once what the page shows of a round's end. It is never in the way of play. */
  receipt(shown: Omit<ShownRound, 'textVersion'>): Promise<void>
  refresh(): Promise<void>
  leave(): void
}

/**
 * A player's sitting at one game: its state and everything that can be done. Whatever happens to an answer on
 * its way, the round it was about is followed to its end and shown as the service has it.
 */
export function createTable({
  api,
  slug,
  revealMs,
}: {
  api: GameApi | null
  slug: string
  /** Time that the page takes to show a round's end; balance and history wait for it. */
  revealMs: (round: Round) => number
}): Table {
  let state = emptyTable
  const listeners = new Set<() => void>()
  const left = new AbortController()
  const patience = createPatience({ left: left.signal, onWaiting: (waiting) => set({ waiting }) })
  const timers = createTableTimers(set)
  /** The round whose receipt was sent last. */
  let receiptOf: string | null = null

  function set(change: Partial<TableState>): void {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }

  async function open(): Promise<void> {
    if (api === null) {
      set({ phase: 'locked', locked: 'no-token' })
      return
    }
    set({ phase: 'loading' })
    await guard(async () => {
      const page = await load(api)
      if (page === null) return
      set({ history: page.data.filter(isOver), historyCursor: page.next_cursor })
      const { round } = state
      if (round !== null && !isOver(round)) await arrive(api, round)
    })
  }

  async function load(from: GameApi) {
    try {
      const [, page] = await Promise.all([seat(from), from.rounds(null)])
      if (state.phase === 'locked') return null
      set({ phase: 'open' })
      return page
    } catch (error) {
      if (left.signal.aborted || lock(asApiError(error))) return null
      set({ phase: 'failed', notice: { tone: 'problem', text: errorText(asApiError(error)) } })
      return null
    }
  }

  /** Reads session, balance, commitment and open round again. */
  async function seat(from: GameApi): Promise<void> {
    takeSeat(await from.sitting())
  }

  function takeSeat(sitting: Sitting): void {
    if (sitting.session.game !== slug) {
      set({ phase: 'locked', locked: 'other-game' })
      return
    }
    const { status } = sitting.session
    const open = sitting.open_round
    set({
      sitting,
      seatedAtMs: Date.now(),
      checking: status === 'ACTIVE' && sitting.protection?.reality_check?.due_in_s === 0,
      ended: status === 'ACTIVE' ? null : status,
      ...(open !== null && isNews(open, state.round) ? { round: open } : {}),
    })
    timers.seat(sitting)
  }

  async function refresh(): Promise<void> {
    if (api === null || state.phase !== 'open') return
    await seat(api).catch(tell)
  }

  async function place(bet: Bet): Promise<void> {
    const { sitting } = state
    if (api === null || sitting === null || !takesBets(state)) return
    const { nonce, server_seed_hash } = sitting.next_round
    // A bet is placed under a commitment that the player has seen, so the last round's will not do.
    if (nonce <= (state.round?.fairness.nonce ?? 0)) return refresh()
    set({
      activity: 'placing',
      notice: null,
      round: null,
      shownHashes: new Map(state.shownHashes).set(nonce, server_seed_hash),
    })
    const request = { ...bet, transaction_id: `play-${crypto.randomUUID()}` }
    await guard(async () => {
      const round = await patience.telling('confirming', () => placeUntilKnown(api, request))
      await arrive(api, round)
      if (state.round?.status === 'OPEN') await seat(api)
    })
  }

  async function placeUntilKnown(from: GameApi, request: PlayRequest): Promise<Round> {
    try {
      return await patience.repeat(() => from.play(request))
    } catch (error) {
      const { code, roundId } = asApiError(error)
      if (roundId === null || !walletCodes.has(code)) throw error
      return from.round(roundId).catch(() => patience.follow(from, roundId, 'PENDING'))
    }
  }

  async function reveal(tile: number): Promise<void> {
    const { round } = state
    if (api === null || round === null || !takesActions(state)) return
    if (round.progress?.tiles_opened.includes(tile) === true) return
    set({ activity: 'revealing', tile, notice: null })
    await act(api, () => api.reveal(round.round_id, tile), round)
  }

  async function cashOut(): Promise<void> {
    const { round } = state
    if (api === null || round === null || !takesActions(state)) return
    set({ activity: 'cashing-out', notice: null })
    await act(api, () => api.cashOut(round.round_id), round)
  }

  /** Goes on or stops after a reality check; stopping ends the session. */
  async function answerCheck(choice: CheckChoice): Promise<void> {
    if (api === null || !state.checking) return
    await api
      .answerCheck(choice)
      .then(() => seat(api))
      .catch(tell)
  }

  /** One try: a page whose receipt does not arrive is without one. */
  async function receipt({ roundId, ...shown }: Omit<ShownRound, 'textVersion'>): Promise<void> {
    if (api === null || roundId === receiptOf) return
    receiptOf = roundId
    const hash = receiptHash({ roundId, ...shown, textVersion: roundLineVersion })
    await api.receipt(roundId, { ...shown, text_version: roundLineVersion, hash }).catch(ignoreApiError)
  }

  async function act(from: GameApi, action: () => Promise<Round>, before: Round): Promise<void> {
    await guard(async () => {
      const round = await patience
        .telling('reconnecting', () => patience.repeat(action))
        .catch(async (error: unknown) => {
          if (asApiError(error).code !== 'ROUND_ALREADY_SETTLED') throw error
          set({ notice: { tone: 'info', text: errorText(asApiError(error)) } })
          return from.round(before.round_id)
        })
      await arrive(from, round)
    })
  }

  /** Shows a round as it is now and stays with it until the player can act again. */
  async function arrive(from: GameApi, round: Round): Promise<void> {
    if (round.status === 'PENDING') {
      set({ round, activity: 'placing', waiting: 'confirming' })
      return arrive(from, await patience.follow(from, round.round_id, round.status))
    }
    if (round.status === 'OPEN') {
      set({ round, activity: 'idle', tile: null, waiting: null })
      return
    }
    const alreadyShown = state.round?.round_id === round.round_id && state.round.outcome !== null
    const seated = isOver(round) ? from.sitting() : null
    // Looked at below; without this a failure during the delay would count as nobody's.
    seated?.catch(() => undefined)
    if (round.outcome !== null && !alreadyShown) {
      set({ round, activity: 'showing', tile: null, waiting: null })
      await delay(revealMs(round), left.signal)
    }
    if (round.status === 'SETTLING') {
      set({ round, activity: 'idle', tile: null, waiting: 'paying' })
      return arrive(from, await patience.follow(from, round.round_id, round.status))
    }
    const history = [round, ...state.history.filter(({ round_id }) => round_id !== round.round_id)]
    const notice = returnedNotice(round)
    if (seated !== null) takeSeat(await seated)
    set({
      round,
      activity: 'idle',
      tile: null,
      waiting: null,
      history: history.slice(0, historyKeptMax),
      ...(notice === null ? {} : { notice: { tone: 'info', text: notice } }),
    })
  }

  /** Runs an action; an error is shown to the player, and the table is read again where that may help. */
  async function guard(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      if (left.signal.aborted) return
      const failed = asApiError(error)
      if (lock(failed)) return
      const before = state.round
      if (failed.code !== 'RATE_LIMITED') await lookAgain()
      set({ activity: 'idle', tile: null, waiting: null })
      if (failed.code === 'SESSION_EXPIRED') set({ ended: 'EXPIRED' })
      else if (failed.code === 'SESSION_CLOSED') set({ ended: 'CLOSED' })
      else if (failed.code === 'RATE_LIMITED' && failed.retryAfterS !== null) timers.hold(failed.retryAfterS)
      else set({ notice: { tone: 'problem', text: errorText(failed) } })
      await resume(before)
    }
  }

  /** Reads the state again after a failure; a further failure changes nothing in the player's text. */
  async function lookAgain(): Promise<void> {
    if (api === null || state.phase !== 'open') return
    await Promise.all([seat(api), newest(api)]).catch(ignoreApiError)
  }

  /** Goes on with an unfinished round that came to light. */
  async function resume(before: Round | null): Promise<void> {
    const { round } = state
    if (api === null || round === null || round === before || isOver(round)) return
    await arrive(api, round).catch(ignoreApiError)
  }

  /** Refused rounds keep their nonce, so they belong into the history too. */
  async function newest(from: GameApi): Promise<void> {
    const page = await from.rounds(null)
    const ended = page.data.filter(isOver)
    const ids = new Set(ended.map(({ round_id }) => round_id))
    const older = state.history.filter(({ round_id }) => !ids.has(round_id))
    set({ history: [...ended, ...older].slice(0, historyKeptMax) })
  }

  function ignoreApiError(error: unknown): void {
    if (!left.signal.aborted) lock(asApiError(error))
  }

  /** Error beside a round: the round under way stays as it is. */
  function tell(error: unknown): void {
    if (left.signal.aborted || lock(asApiError(error))) return
    set({ notice: { tone: 'problem', text: errorText(asApiError(error)) } })
  }

  function lock(error: ApiError): boolean {
    if (!isTokenError(error)) return false
    set({ phase: 'locked', locked: 'token-ended' })
    return true
  }

  async function moreHistory(): Promise<void> {
    const { historyCursor } = state
    if (api === null || historyCursor === null) return
    const page = await api.rounds(historyCursor).catch(tell)
    if (page === undefined) return
    const known = new Set(state.history.map(({ round_id }) => round_id))
    const older = page.data.filter((round) => isOver(round) && !known.has(round.round_id))
    const history = [...state.history, ...older].slice(0, historyKeptMax)
    set({ history, historyCursor: history.length < historyKeptMax ? page.next_cursor : null })
  }

  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    open,
    place,
    reveal,
    cashOut,
    answerCheck,
    moreHistory,
    receipt,
    refresh,
    leave() {
      left.abort()
      timers.stop()
      listeners.clear()
    },
  }
}

/** An answer that was overtaken by a later one must not close tiles again. */
function isNews(open: Round, known: Round | null): boolean {
  if (known?.round_id !== open.round_id) return true
  return tilesOpened(open) > tilesOpened(known)
}

function tilesOpened({ progress }: Round): number {
  return progress?.tiles_opened.length ?? 0
}

function returnedNotice({ status, end_reason }: Round): string | null {
  if (status === 'FAILED') return 'Your casino refused this bet. Nothing was taken.'
  if (status !== 'VOIDED') return null
  return end_reason === 'abandoned'
    ? 'The round was left open and has been ended. Your stake was given back.'
    : 'Your bet could not be confirmed and was cancelled. You keep your stake.'
}
