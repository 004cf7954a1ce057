import type { businessSchema } from '@pitboss/contracts/objects/account'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type * as z from 'zod'
import icon from '../parts/dashboard-icon.svg'
import { type Environment, useDashboard } from './dashboard-context.ts'
import { whyNot } from './may.ts'
import { type Place, places } from './places.ts'
import { Keyboard } from '../palette/keyboard.tsx'
import { ZoneSwitch } from '../time/zone-switch.tsx'
import { SignOutButton } from './sign-out-button.tsx'

const environments: readonly { name: Environment; says: string }[] = [
  { name: 'TEST', says: 'play money' },
  { name: 'LIVE', says: 'real money' },
]

type ShellProps = { readonly business: z.output<typeof businessSchema>; readonly children: ReactNode }

/** The frame of all pages: environment, places, person. */
export function Shell({ business, children }: ShellProps) {
  const { environment, user } = useDashboard()
  const [location] = useLocation()
  const [open, setOpen] = useState(false)
  useEffect(() => setOpen(false), [location])
  return (
    <div className="shell" data-environment={environment}>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <p className="brand">
          <img src={icon} alt="" width="28" height="28" />
          <span>
            <strong>{business.name}</strong>
            <small>Pitboss</small>
          </span>
        </p>
        <Keyboard />
        <ZoneSwitch />
        <EnvironmentSwitch />
        <button
          type="button"
          className="button quiet-button menu-button"
          aria-expanded={open}
          aria-controls="places"
          onClick={() => setOpen(!open)}
        >
          Menu
        </button>
      </header>
      <nav className="places" id="places" data-open={open} aria-label="Pages">
        {places.map(({ group, places }) => (
          <div key={group}>
            <h2>{group}</h2>
            <ul>
              {places.map((place) => (
                <li key={place.href}>
                  <PlaceLink place={place} current={location} />
                </li>
              ))}
            </ul>
          </div>
        ))}
        <div>
          <h2>Help</h2>
          <ul>
            <li>
              <a href="/v1/public/docs" target="_blank" rel="noreferrer">
                API reference
              </a>
            </li>
            <li>
              <a href="/v1/public/verify" target="_blank" rel="noreferrer">
                Verify a round
              </a>
            </li>
          </ul>
        </div>
        <div className="person">
          <p>
            <strong>{user.name}</strong>
            <span className="quiet">{user.role}</span>
          </p>
          <SignOutButton />
        </div>
      </nav>
      {children}
    </div>
  )
}

/** A change of the environment stays in the same room: what has an id is in one environment alone. */
function EnvironmentSwitch() {
  const { environment } = useDashboard()
  const [location] = useLocation()
  const room = location.split('/')[1] ?? ''
  return (
    <nav className="environments" aria-label="Environment">
      {environments.map(({ name, says }) => (
        <Link
          key={name}
          href={`~/dashboard/${name.toLowerCase()}${room === '' ? '' : `/${room}`}`}
          data-environment={name}
          aria-current={name === environment ? 'true' : undefined}
        >
          <strong>{name}</strong> <span>{says}</span>
        </Link>
      ))}
    </nav>
  )
}

function PlaceLink({ place: { title, href, needs }, current }: { place: Place; current: string }) {
  const { user } = useDashboard()
  const why = needs === undefined ? null : whyNot(user.role, needs)
  const here = href === '/' ? current === '/' : current === href || current.startsWith(`${href}/`)
  return (
    <Link
      href={href}
      aria-current={here ? 'page' : undefined}
      data-closed={why !== null}
      title={why ?? undefined}
    >
      {title}
      {why !== null && <span className="lock">not for your role</span>}
    </Link>
  )
}
