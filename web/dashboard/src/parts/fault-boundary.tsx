import { Component, type ReactNode } from 'react'

type Props = { readonly children: ReactNode }
type State = { readonly fault: Error | null }

/** Keeps a fault of one page from taking the others with it. */
export class FaultBoundary extends Component<Props, State> {
  override state: State = { fault: null }

  static getDerivedStateFromError(fault: Error): State {
    return { fault }
  }

  override render(): ReactNode {
    const { fault } = this.state
    if (fault === null) return this.props.children
    return (
      <main id="main" tabIndex={-1}>
        <div className="notice" data-tone="problem" role="alert">
          <p>
            <strong>This page has a fault.</strong> Reload it. If that does not help, tell support:
          </p>
          <p>
            <code>{fault.message}</code>
          </p>
          <button type="button" className="button" onClick={() => window.location.reload()}>
            Reload
          </button>
        </div>
      </main>
    )
  }
}
