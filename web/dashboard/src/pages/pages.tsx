import { type ComponentType, lazy, Suspense, useEffect, useRef } from 'react'
import { Route, Switch, useLocation } from 'wouter'
import { FaultBoundary } from '../parts/fault-boundary.tsx'
import { NoPage } from './no-page.tsx'

type Loader = () => Promise<{ default: ComponentType }>

/** Every page of the dashboard by its path; each is loaded when it is opened. */
const loaders: Readonly<Record<string, Loader>> = {
  '/': () => import('./home.tsx'),
  '/keys': () => import('./keys.tsx'),
  '/keys/:api_key': () => import('./key.tsx'),
  '/endpoints': () => import('./endpoints.tsx'),
  '/endpoints/:webhook_id': () => import('./endpoint.tsx'),
  '/endpoints/:webhook_id/replays/:replay_id': () => import('./replay.tsx'),
  '/endpoints/:webhook_id/certifications/:certification_id': () => import('./endpoint-certification.tsx'),
  '/deliveries': () => import('./deliveries.tsx'),
  '/deliveries/:delivery_id': () => import('./delivery.tsx'),
  '/events': () => import('./events.tsx'),
  '/events/:event_id': () => import('./event.tsx'),
  '/wallet': () => import('./wallet.tsx'),
  '/wallet/certifications/:certification_id': () => import('./wallet-certification.tsx'),
  '/requests': () => import('./requests.tsx'),
  '/sessions': () => import('./sessions.tsx'),
  '/sessions/:session_id': () => import('./session.tsx'),
  '/rounds': () => import('./rounds.tsx'),
  '/rounds/:round_id': () => import('./round.tsx'),
  '/transactions': () => import('./transactions.tsx'),
  '/transactions/:transaction_id': () => import('./transaction.tsx'),
  '/player': () => import('./player.tsx'),
  '/fairness': () => import('./fairness.tsx'),
  '/returns': () => import('./returns.tsx'),
  '/free-bets': () => import('./free-bets.tsx'),
  '/flags': () => import('./flags.tsx'),
  '/flags/:flag_id': () => import('./flag.tsx'),
  '/reports': () => import('./reports.tsx'),
  '/reconciliation': () => import('./reconciliations.tsx'),
  '/reconciliation/:reconciliation_id': () => import('./reconciliation.tsx'),
  '/games': () => import('./games.tsx'),
  '/people': () => import('./people.tsx'),
  '/audit': () => import('./audit.tsx'),
  '/approvals': () => import('./approvals.tsx'),
  '/approvals/:approval_id': () => import('./approval.tsx'),
  '/business': () => import('./business.tsx'),
  '/account': () => import('./account.tsx'),
}
const pages = Object.entries(loaders).map(([path, load]) => ({ path, Page: lazy(load) }))

/** The page of the address. */
export function Pages() {
  const [location] = useLocation()
  useTop(location)
  return (
    <FaultBoundary key={location}>
      <Suspense fallback={<main className="loading" id="main" aria-busy aria-label="Loading" />}>
        <Switch>
          {pages.map(({ path, Page }) => (
            <Route key={path} path={path}>
              <Page />
            </Route>
          ))}
          <Route>
            <NoPage />
          </Route>
        </Switch>
      </Suspense>
    </FaultBoundary>
  )
}

/** Another page begins at its top; one that is gone back to stays where the browser puts it. */
function useTop(location: string) {
  const shown = useRef(location)
  const back = useRef(false)
  useEffect(() => {
    const note = () => {
      back.current = true
    }
    window.addEventListener('popstate', note, { capture: true })
    return () => window.removeEventListener('popstate', note, { capture: true })
  }, [])
  useEffect(() => {
    if (shown.current !== location && !back.current) window.scrollTo(0, 0)
    shown.current = location
    back.current = false
  }, [location])
}
