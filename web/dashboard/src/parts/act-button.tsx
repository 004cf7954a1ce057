import { useId } from 'react'

type ActButtonProps = {
  readonly children: string
  readonly onPress: () => void
  /** The reason why this person can't; null for no reason. */
  readonly refused?: string | null
  /** The id of an element that says the reason for several buttons. */
  readonly toldBy?: string
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
  toldBy,
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
        aria-describedby={refused === null ? undefined : (toldBy ?? id)}
        onClick={onPress}
      >
        {children}
      </button>
      {refused !== null && toldBy === undefined && (
        <span className="why" id={id}>
          {refused}
        </span>
      )}
    </span>
  )
}
