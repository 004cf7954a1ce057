import { useEffect, useRef } from 'preact/hooks'
import type { Sitting } from '../api/records.ts'
import type { Table } from './create-table.ts'
import { SessionFigures } from './session-figures.tsx'
import type { TableState } from './table-state.ts'

/** Interrupts play until the player goes on or stops; the service takes no new round meanwhile. */
export function RealityCheck(props: { table: Table; state: TableState; sitting: Sitting }) {
  const { table, state } = props
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class="proof"
      aria-labelledby="check-title"
      data-testid="reality-check"
      // Only an answer ends it.
      onCancel={(event) => event.preventDefault()}
    >
      <h2 id="check-title">Time for a break?</h2>
      <SessionFigures {...props} />
      <p>
        {state.round?.status === 'OPEN'
          ? 'Your open round waits for you and can be finished either way.'
          : 'Every bet that you placed is settled, whether you go on or not.'}
      </p>
      <div class="dialog-foot">
        <button type="button" class="button quiet-button" onClick={() => void table.answerCheck('stop')}>
          Stop playing
        </button>
        <button type="button" class="button" onClick={() => void table.answerCheck('continue')}>
          Go on
        </button>
      </div>
    </dialog>
  )
}
