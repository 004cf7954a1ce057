import { useAct } from '../hooks/use-act.ts'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { useDashboard } from './dashboard-context.ts'

export function SignOutButton() {
  const { session } = useDashboard()
  const act = useAct(() => session.signOut())
  return (
    <>
      <button
        type="button"
        className="button quiet-button"
        disabled={act.busy}
        onClick={() => void act.run()}
      >
        Sign out
      </button>
      <ErrorNotice error={act.error} />
    </>
  )
}
