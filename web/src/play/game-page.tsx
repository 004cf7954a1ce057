import { useEffect, useRef, useState } from 'preact/hooks'
import type { Round, Sitting } from '../api/records.ts'
import { useBetSlip } from './bet-slip.ts'
import type { Table } from './create-table.ts'
import { FairnessPanel } from './fairness-panel.tsx'
import type { GameDefinition } from './game-definition.ts'
import { GameHeader } from './game-header.tsx'
import { History } from './history.tsx'
import { Locked } from './locked.tsx'
import { prefersStill } from './motion.ts'
import { RoundDialog } from './round-dialog.tsx'
import { SessionEnd } from './session-end.tsx'
import { firstStake, stakeRange } from './stake.ts'
import { StatusLine } from './status-line.tsx'
import type { TableState } from './table-state.ts'
import { useTable } from './use-table.ts'

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
  return (
    <>
      <GameHeader definition={definition} state={state} sitting={sitting} />
      <main>
        <SessionEnd state={state} sitting={sitting} />
        <div class="table" ref={board}>
          <StatusLine definition={definition} state={state} onVerify={setShown} />
          <Playfield table={table} state={state} sitting={sitting} slip={slip} />
        </div>
        <div class="records">
          <FairnessPanel state={state} sitting={sitting} slip={slip} onVerify={setShown} />
          <History definition={definition} table={table} state={state} onVerify={setShown} />
        </div>
      </main>
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
