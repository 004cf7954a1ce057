import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { approvalSchema } from '@pitboss/contracts/objects/approval'
import { flagSchema } from '@pitboss/contracts/objects/flag'
import { pageOf } from '@pitboss/contracts/primitives'
import { webhookEndpointSchema } from '@pitboss/contracts/objects/webhook'
import { useRead } from '../hooks/use-read.ts'
import { Moment } from '../parts/moment.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { approvalText } from './approval-texts.ts'
import type { Overview } from './home.tsx'

const flagsPage = pageOf(flagSchema)
const approvalsPage = pageOf(approvalSchema)
const often = { everyMs: 30_000 } as const
/** Endpoints that are named, of each kind. */
const namedMax = 5
/** An approval of operations is told for a week. */
const noticedMs = 7 * 24 * 60 * 60 * 1000

type Matter = {
  readonly tone: 'problem' | 'waiting'
  readonly text: ReactNode
  /** The one press that helps. */
  readonly href: string
  readonly act: string
}

/** What needs attention, the gravest first. */
export function Attention({ of: { wallet, deliveries, play } }: { of: Overview }) {
  const { user, environment } = useDashboard()
  const flags = useRead(flagsPage, 'dashboard/flags', { environment, status: 'OPEN', limit: '1' }, often)
  const [flag] = flags.data?.data ?? []
  const enabled = whyNot(user.role, 'POST /v1/dashboard/approvals/{approval_id}/approve') === null
  const waiting = { status: 'PENDING', limit: '50' }
  const asked = useRead(approvalsPage, 'dashboard/approvals', waiting, { ...often, enabled })
  const approvals = (asked.data?.data ?? []).filter(({ asked_by }) => asked_by.id !== user.user_id)
  const decided = useRead(approvalsPage, 'dashboard/approvals', { limit: '50' }, { ...often, enabled })
  const byOperations = (decided.data?.data ?? []).filter(
    ({ decided_by, decided_at }) =>
      decided_by?.user_id === 'operations' && Date.parse(decided_at ?? '') > Date.now() - noticedMs,
  )
  const isBuilder = whyNot(user.role, 'GET /v1/dashboard/webhooks') === null
  const endpoint = (id: string) => (isBuilder ? `/endpoints/${id}` : `/deliveries?webhook_id=${id}`)
  const unheard = [
    ...(play === null ? ['reports'] : []),
    ...(wallet === null ? ['wallet'] : []),
    ...(deliveries === null ? ['deliveries'] : []),
  ]
  const matters: Matter[] = [
    ...(wallet?.breaker_open === true
      ? [
          {
            tone: 'problem',
            text: 'The wallet has stopped answering. New stakes are held back until it answers again.',
            href: isBuilder ? '/wallet' : '/transactions?status=PENDING',
            act: isBuilder ? 'Check the wallet' : 'See what waits for it',
          } as const,
        ]
      : []),
    ...(wallet === null || wallet.oldest_unresolved === null
      ? []
      : [
          {
            tone: 'waiting',
            text: (
              <>
                {counted(wallet.unresolved, 'movement has', 'movements have')} no clear answer from the wallet
                yet; the oldest began <Moment at={wallet.oldest_unresolved.created_at} />.
              </>
            ),
            href: '/transactions?status=PENDING',
            act: 'See what they wait for',
          } as const,
        ]),
    ...(deliveries?.paused ?? []).slice(0, namedMax).map((id) => ({
      tone: 'problem' as const,
      text: (
        <>
          The endpoint <EndpointName id={id} /> is paused; its deliveries are held.
        </>
      ),
      href: endpoint(id),
      act: isBuilder ? 'Look and resume' : 'See its deliveries',
    })),
    ...(deliveries?.failing ?? []).slice(0, namedMax).map((id) => ({
      tone: 'waiting' as const,
      text: (
        <>
          The endpoint <EndpointName id={id} /> fails; its deliveries are repeated for a day.
        </>
      ),
      href: endpoint(id),
      act: 'See why',
    })),
    ...(deliveries === null || deliveries.failed === 0
      ? []
      : [
          {
            tone: 'problem',
            text: `${counted(deliveries.failed, 'delivery of the last 24 hours has', 'deliveries of the last 24 hours have')} failed for good.`,
            href: '/deliveries?status=FAILED',
            act: 'See and retry',
          } as const,
        ]),
    ...approvals.slice(0, namedMax).map((approval) => ({
      tone: 'waiting' as const,
      text: (
        <>
          {approval.asked_by.name} has asked: {approvalText(approval)}. It waits for a second person until{' '}
          <Moment at={approval.expires_at} />.
        </>
      ),
      href: `/approvals/${approval.approval_id}`,
      act: 'Look and decide',
    })),
    ...byOperations.slice(0, namedMax).map((approval) => ({
      tone: 'problem' as const,
      text: (
        <>
          Operations ({approval.decided_by?.email}) have approved: {approvalText(approval)}, asked by{' '}
          {approval.asked_by.name}.
        </>
      ),
      href: `/approvals/${approval.approval_id}`,
      act: 'See it',
    })),
    ...(flag === undefined
      ? []
      : [
          {
            tone: 'waiting',
            text: (
              <>
                Flags wait for somebody; the latest is of <Moment at={flag.happened_at} />.
              </>
            ),
            href: '/flags?status=OPEN',
            act: 'See what they are',
          } as const,
        ]),
    ...(unheard.length === 0
      ? []
      : [
          {
            tone: 'waiting',
            text: `No answer just now about: ${unheard.join(', ')}. It is asked again in 30 seconds.`,
            href: '/',
            act: 'Reload',
          } as const,
        ]),
  ]
  return (
    <section aria-label="Needs attention">
      <h2>Needs attention</h2>
      {matters.length === 0 ? (
        <p className="about">
          Nothing: {wallet?.configured === false ? 'no wallet is set up yet' : 'the wallet answers'}, no
          endpoint is paused or failing, no delivery has failed today, no flag is open.
        </p>
      ) : (
        <ul className="matters">
          {gravestFirst(matters).map(({ tone, text, href, act }, at) => (
            <li key={`${href} ${at}`} className="notice" data-tone={tone}>
              <span>{text}</span>
              <Link className="button quiet-button small" href={href}>
                {act}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function gravestFirst(matters: readonly Matter[]): Matter[] {
  const isGrave = ({ tone }: Matter) => tone === 'problem'
  return [...matters.filter(isGrave), ...matters.filter((matter) => !isGrave(matter))]
}

/** An endpoint by its description or address where the role may read it, else by its id. */
function EndpointName({ id }: { id: string }) {
  const { user, environment } = useDashboard()
  const enabled = whyNot(user.role, 'GET /v1/dashboard/webhooks') === null
  const read = useRead(webhookEndpointSchema, `dashboard/webhooks/${id}`, { environment }, { enabled })
  return read.data === undefined ? (
    <code>{id}</code>
  ) : (
    <strong>{read.data.description ?? read.data.url}</strong>
  )
}

/** Counts of an overview stop at a bound. */
function counted(count: number, one: string, many: string): string {
  const number = count >= countedMax ? `${countedMax} or more` : String(count)
  return `${number} ${count === 1 ? one : many}`
}
