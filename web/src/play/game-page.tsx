import { useEffect, useRef, useState } from 'preact/hooks'
import type { Round, Sitting } from '../api/records.ts'
import { useBetSlip } from './bet-slip.ts'
import type { Table } from './create-table.ts'
import { FairnessPanel } from './fairness-panel.tsx'
import type { GameDefinition } from './game-definition.ts'
import { GameHeader, ReturnLink } from './game-header.tsx'
import { History } from './history.tsx'
import { prefersStill } from './motion.ts'
import { RealityCheck } from './reality-check.tsx'
import { RoundDialog } from './round-dialog.tsx'
import { SessionFigures } from './session-figures.tsx'
import { firstStake, stakeRange } from './stake.ts'
import { StatusLine } from './status-line.tsx'
import type { LockReason, TableState } from './table-state.ts'
import { useSecondsUntil } from './use-seconds-until.ts'

type Props = { readonly definition: GameDefinition; readonly table: Table }

/** The whole page of one game. */
export function GamePage({ definition, table }: Props) {
  const state = useTable(table)
  useRefreshOnReturn(table)
  if (state.phase === 'locked') return <Locked reason={state.locked} definition={definition} />
  if (state.sitting === null || state.phase !== 'open') {
    return <Opening definition={definition} table={table} state={state} />
  }
  return <OpenTable definition={definition} table={table} state={state} sitting={state.sitting} />
}

function OpenTable({ definition, table, state, sitting }: Props & { state: TableState; sitting: Sitting }) {
  const range = stakeRange(sitting)
  const { currency } = sitting.session
  const slip = useBetSlip(range === null ? '' : firstStake(range, currency))
  const [shown, setShown] = useState<Round | null>(null)
  const { Playfield } = definition
  const board = useBoardInView(state.activity === 'placing')
  const parts = { definition, table, state, sitting, slip, onVerify: setShown }
  return (
    <>
      <GameHeader {...parts} />
      <main>
        <SessionFigures state={state} sitting={sitting} />
        <SessionEnd state={state} sitting={sitting} />
        <div class="table" ref={board}>
          <StatusLine {...parts} />
          <Playfield table={table} state={state} sitting={sitting} slip={slip} />
        </div>
        <div class="records">
          <FairnessPanel {...parts} />
          <History {...parts} />
        </div>
      </main>
      {state.checking ? <RealityCheck {...parts} /> : null}
      {shown === null ? null : (
        <RoundDialog
          definition={definition}
          round={shown}
          shownHash={state.shownHashes.get(shown.fairness.nonce) ?? null}
          onClose={() => setShown(null)}
        />
      )}
    </>
  )
}

function Opening({ definition, table, state }: Props & { state: TableState }) {
  return (
    <main class="notice-page" aria-busy={state.phase === 'loading'}>
      <img src={definition.icon} alt="" width="64" height="64" />
      <h1>{definition.title}</h1>
      {state.phase === 'loading' ? (
        <p role="status">Opening your table…</p>
      ) : (
        <>
          <p role="alert">{state.notice?.text}</p>
          <button type="button" class="button" onClick={() => void table.open()}>
            Try again
          </button>
        </>
      )}
    </main>
  )
}

/** A tab that was away may have missed the end of the session or a change of the balance. */
function useRefreshOnReturn(table: Table): void {
  useEffect(() => {
    const onReturn = () => {
      const { activity, waiting } = table.state()
      if (document.visibilityState === 'visible' && activity === 'idle' && waiting === null) {
        void table.refresh()
      }
    }
    document.addEventListener('visibilitychange', onReturn)
    return () => document.removeEventListener('visibilitychange', onReturn)
  }, [table])
}

/** On a small screen the bet may be placed from below the board; what comes of it should be seen. */
function useBoardInView(placing: boolean) {
  const board = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!placing || board.current === null || board.current.getBoundingClientRect().top >= 0) return
    board.current.scrollIntoView({ block: 'start', behavior: prefersStill() ? 'instant' : 'smooth' })
  }, [placing])
  return board
}

/** The table's state, drawn again at each change. */
function useTable(table: Table): TableState {
  const [state, setState] = useState(table.state)
  useEffect(() => {
    setState(table.state())
    return table.subscribe(() => setState(table.state()))
  }, [table])
  return state
}

const texts: Readonly<Record<LockReason, { title: string; text: string }>> = {
  'no-token': {
    title: 'Open the game again from your casino',
    text: 'For your safety this page keeps no key to your table: after a reload, or from a bookmark, it has to be opened from your casino again. A round that is still open waits for you there.',
  },
  'token-ended': {
    title: 'Your visit has ended',
    text: 'Open the game again from your casino. Every bet that you placed is settled, whether this page is open or not.',
  },
  'other-game': {
    title: 'This link belongs to another game',
    text: 'Open the game that you want to play again from your casino.',
  },
}

/** There is no valid launch link. */
function Locked({ reason, definition }: { reason: LockReason | null; definition: GameDefinition }) {
  const { title, text } = texts[reason ?? 'no-token']
  return (
    <main class="notice-page">
      <img src={definition.icon} alt="" width="64" height="64" />
      <h1>{title}</h1>
      <p>{text}</p>
    </main>
  )
}

/** The last minutes are counted down. */
const warnBelowS = 300

/** Says that the session is about to end, or has ended. */
function SessionEnd({ state, sitting }: { state: TableState; sitting: Sitting }) {
  const leftS = useSecondsUntil(Date.parse(sitting.session.expires_at), state.ended === null)
  const { return_url } = sitting.session
  if (state.ended !== null) {
    const open = state.round?.status === 'OPEN'
    return (
      <section class="banner" role="alert" data-testid="session-ended">
        <div>
          <h2>{state.ended === 'CLOSED' ? 'This session was closed' : 'This session has ended'}</h2>
          <p>
            {open
              ? 'Your open round can still be finished. For a new one, open the game again from your casino.'
              : 'Your rounds are settled and your balance is up to date. To go on, open the game again from your casino.'}
          </p>
        </div>
        {return_url === null ? null : <ReturnLink href={return_url} text="Back to the casino" />}
      </section>
    )
  }
  if (leftS > warnBelowS) return null
  const minutes = Math.floor(leftS / 60)
  return (
    <p class="countdown">
      This session ends in {minutes}:{String(leftS % 60).padStart(2, '0')}
    </p>
  )
}
