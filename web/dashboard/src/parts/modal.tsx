import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode, RefObject } from 'react'

type ModalProps = {
  readonly title: string
  readonly children: ReactNode
  /** Null: it ends by an act inside alone. */
  readonly onClose: (() => void) | null
  /** The control that has the focus first; the first one unless given. */
  readonly focus?: RefObject<HTMLElement | null>
}

/** A dialog over the page; it is open as long as it is there. */
export function Modal({ title, children, onClose, focus }: ModalProps) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose?.()} disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="modal card" {...(focus === undefined ? {} : { initialFocus: focus })}>
          <div className="modal-head">
            <Dialog.Title className="modal-title">{title}</Dialog.Title>
            {onClose !== null && <Dialog.Close className="button quiet-button small">Close</Dialog.Close>}
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
