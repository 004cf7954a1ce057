import { useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import { Modal } from './modal.tsx'

export type Secret = { readonly label: string; readonly value: string }

type SecretOnceProps = {
  readonly title: string
  readonly secrets: readonly Secret[]
  /** Where the secret goes, and what else is good to know. */
  readonly note: string
  /** Takes the secret out of the page. */
  readonly onStored: () => void
}

/**
 * A secret as it is answered once. It stays until "I have stored it" is pressed, which takes it out of the
 * page, and out of the clipboard if it was copied here: neither Escape nor a press beside it does, a slip of
 * the hand must not lose it.
 */
export function SecretOnce({ title, secrets, note, onStored }: SecretOnceProps) {
  const [shown, setShown] = useState(true)
  const [copied, setCopied] = useState(false)
  if (!shown) return null
  return (
    <Modal title={title} onClose={null}>
      <p>
        <strong>This is shown once.</strong> {note}
        {copied && ' The clipboard is emptied when you have stored it.'}
      </p>
      <dl className="secrets">
        {secrets.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <code data-testid="secret">{value}</code>
              <CopyButton text={value} what={label} onCopied={() => setCopied(true)} />
            </dd>
          </div>
        ))}
      </dl>
      <div className="buttons">
        <button
          type="button"
          className="button main-button"
          onClick={() => {
            // A browser that took the copy takes this, too: both are presses in this page.
            if (copied) void navigator.clipboard.writeText('')
            setShown(false)
            onStored()
          }}
        >
          I have stored it
        </button>
      </div>
    </Modal>
  )
}
