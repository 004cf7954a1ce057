import { Link } from 'wouter'
import { useDashboard } from '../session/dashboard-context.ts'
import type { Overview } from './home.tsx'
import { OpenSession } from './open-session.tsx'

const steps = [
  { name: 'key', text: 'Create a key', href: '/keys', how: 'Your server asks for tokens with it.' },
  {
    name: 'wallet',
    text: 'Set up the wallet',
    href: '/wallet',
    how: 'Stakes and wins go there. Check it in place, then certify it.',
  },
  { name: 'endpoint', text: 'Create an endpoint', href: '/endpoints', how: 'Events are delivered there.' },
  {
    name: 'delivery',
    text: 'Accept a delivery',
    href: '/deliveries',
    how: 'Press "Send test" on the endpoint.',
  },
  {
    name: 'round',
    text: 'Play the first round',
    href: '/rounds',
    how: 'Your server opens a session with the key, and the player follows its launch address.',
  },
] as const

/** The first steps of an account, each ticked by a fact; gone once all are done. */
export function FirstSteps({ of: done }: { of: Overview['steps'] }) {
  const { environment } = useDashboard()
  if (!steps.some(({ name }) => done[name] === false)) return null
  return (
    <section className="card" aria-label="First steps">
      <h2>First steps in {environment}</h2>
      <ol className="todo">
        {steps.map(({ name, text, href, how }) => (
          <li key={name}>
            <span aria-hidden>{done[name] === true ? '✓' : '○'}</span>
            <span>
              <Link href={href}>{text}</Link>
              <span className="unseen">{done[name] === true ? ', done' : ', open'}</span>
              <br />
              <small className="quiet">{how}</small>
              {name === 'round' && done.round === false && <OpenSession />}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
