import { credentialSchema } from '@pitboss/contracts/objects/account'
import { deliverySchema, webhookEndpointSchema } from '@pitboss/contracts/objects/webhook'
import { walletSchema } from '@pitboss/contracts/objects/wallet'
import { movementSchema } from '@pitboss/contracts/objects/movement'
import { roundSchema } from '@pitboss/contracts/objects/round'
import { pageOf } from '@pitboss/contracts/primitives'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import * as z from 'zod'
import { ApiError } from '../api/api-error.ts'
import { useRead } from '../hooks/use-read.ts'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { type Act, whyNot } from '../session/may.ts'
import { LastDay } from './last-day.tsx'

const keysPage = pageOf(credentialSchema)
const endpointsPage = pageOf(webhookEndpointSchema)
const deliveriesPage = pageOf(deliverySchema)
const movementsPage = pageOf(movementSchema)
const roundsPage = pageOf(roundSchema)

/** Reads what the person's role opens, nothing else. */
function useOpen<Schema extends z.ZodType>(
  act: Act,
  schema: Schema,
  path: string,
  query: Record<string, string>,
) {
  const { user } = useDashboard()
  return useRead(schema, path, query, { enabled: whyNot(user.role, act) === null })
}

/** The last day, what needs attention, and the first steps, each ticked by a fact. */
export default function Home() {
  const { environment } = useDashboard()
  const one = { environment, limit: '1' }
  const keys = useOpen('GET /v1/dashboard/credentials', keysPage, 'dashboard/credentials', one)
  const endpoints = useOpen('GET /v1/dashboard/webhooks', endpointsPage, 'dashboard/webhooks', {
    environment,
    limit: '200',
  })
  const wallet = useOpen(
    'GET /v1/dashboard/wallets/{environment}',
    walletSchema,
    `dashboard/wallets/${environment}`,
    {},
  )
  const failed = useRead(deliveriesPage, 'dashboard/webhook-deliveries', { ...one, status: 'FAILED' })
  const delivered = useRead(deliveriesPage, 'dashboard/webhook-deliveries', { ...one, status: 'DELIVERED' })
  const unclear = useRead(movementsPage, 'dashboard/transactions', { ...one, status: 'PENDING' })
  const rounds = useRead(roundsPage, 'dashboard/rounds', one)
  const paused = endpoints.data?.data.filter(({ status }) => status === 'PAUSED') ?? []
  const noWallet = wallet.error instanceof ApiError && wallet.error.code !== 'FORBIDDEN'
  const [lastFailed] = failed.data?.data ?? []
  const [oldUnclear] = unclear.data?.data ?? []
  const attention: ReactNode[] = [
    ...paused.map(({ webhook_id, url, pause_reason }) => (
      <li key={webhook_id} className="notice" data-tone="waiting">
        <span>
          An endpoint is paused ({pause_reason}): <Link href={`/endpoints/${webhook_id}`}>{url}</Link>
        </span>
      </li>
    )),
    ...(lastFailed === undefined
      ? []
      : [
          <li key="failed" className="notice" data-tone="problem">
            <span>
              A delivery has failed for good, <Moment at={lastFailed.created_at} />:{' '}
              <Link href="/deliveries?status=FAILED">see the failed deliveries</Link>
            </span>
          </li>,
        ]),
    ...(oldUnclear === undefined
      ? []
      : [
          <li key="unclear" className="notice" data-tone="waiting">
            <span>
              Money is on its way: the wallet has not answered clearly yet.{' '}
              <Link href="/transactions?status=PENDING">See the pending movements</Link>
            </span>
          </li>,
        ]),
  ]
  const steps: readonly { done: boolean | null; text: string; href: string; how: string }[] = [
    {
      done: known(keys.data, ({ data }) => data.length > 0),
      text: 'Create a key',
      href: '/keys',
      how: 'Your server asks for tokens with it.',
    },
    {
      done: wallet.data === undefined ? (noWallet ? false : null) : true,
      text: 'Set up the wallet',
      href: '/wallet',
      how: 'Stakes and wins go there. Check it in place.',
    },
    {
      done: known(endpoints.data, ({ data }) => data.length > 0),
      text: 'Create an endpoint',
      href: '/endpoints',
      how: 'Events are delivered there.',
    },
    {
      done: known(delivered.data, ({ data }) => data.length > 0),
      text: 'Accept a delivery',
      href: '/deliveries',
      how: 'Press "Send test" on the endpoint.',
    },
    {
      done: known(rounds.data, ({ data }) => data.length > 0),
      text: 'Play the first round',
      href: '/rounds',
      how: 'Open a session with POST /v1/sessions and follow its launch address.',
    },
  ]
  const open = steps.filter(({ done }) => done === false)
  return (
    <Page title="Home">
      <LastDay />
      <h2>Needs attention</h2>
      {attention.length === 0 ? (
        <p className="about">
          Nothing: no endpoint is paused, no delivery has failed, no movement is pending.
        </p>
      ) : (
        <ul className="todo">{attention}</ul>
      )}
      {open.length > 0 && (
        <section className="card" aria-label="First steps">
          <h2>First steps in {environment}</h2>
          <ol className="todo">
            {steps.map(({ done, text, href, how }) => (
              <li key={text}>
                <span aria-hidden>{done === true ? '✓' : '○'}</span>
                <span>
                  <Link href={href}>{text}</Link>
                  <span className="unseen">{done === true ? ', done' : ', open'}</span>
                  <br />
                  <small className="quiet">{how}</small>
                </span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </Page>
  )
}

/** Null as long as nobody knows, also where the role does not open it. */
function known<Data>(data: Data | undefined, judge: (data: Data) => boolean): boolean | null {
  return data === undefined ? null : judge(data)
}
