import { useId } from 'react'

type ActButtonProps = {
  readonly children: string
  readonly onPress: () => void
  /** The reason why this person can't; null for no reason. */
  readonly refused?: string | null
  readonly look?: 'main-button' | 'quiet-button' | 'grave-button'
  readonly busy?: boolean
}

/**
 * A button that says why when it can't be pressed. It stays reachable by the keyboard, so that the reason is
 * read.
 */
export function ActButton({
  children,
  onPress,
  refused = null,
  look = 'quiet-button',
  busy = false,
}: ActButtonProps) {
  const id = useId()
  return (
    <span className="act">
      <button
        type="button"
        className={`button ${look}`}
        disabled={busy || refused !== null}
        aria-describedby={refused === null ? undefined : id}
        onClick={onPress}
      >
        {children}
      </button>
      {refused !== null && (
        <span className="why" id={id}>
          {refused}
        </span>
      )}
    </span>
  )
}
