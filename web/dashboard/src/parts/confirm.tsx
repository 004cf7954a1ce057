import type { ReactNode } from 'react'
import type { ActState } from '../hooks/use-act.ts'
import { ErrorNotice } from './error-notice.tsx'
import { Modal } from './modal.tsx'

type ConfirmProps = ActState & {
  readonly title: string
  /** What happens, to whom, and whether it can be undone. */
  readonly children: ReactNode
  readonly act: string
  readonly grave?: boolean
  readonly onConfirm: () => unknown
  readonly onClose: () => void
}

/** Asks before an act. */
export function Confirm({
  title,
  children,
  act,
  grave = false,
  busy,
  error,
  onConfirm,
  onClose,
}: ConfirmProps) {
  return (
    <Modal title={title} onClose={onClose}>
      {children}
      <ErrorNotice error={error} />
      <div className="buttons">
        <button type="button" className="button quiet-button" onClick={onClose}>
          Leave as it is
        </button>
        <button
          type="button"
          className={`button ${grave ? 'grave-button' : 'main-button'}`}
          disabled={busy}
          onClick={() => onConfirm()}
        >
          {busy ? 'One moment…' : act}
        </button>
      </div>
    </Modal>
  )
}
