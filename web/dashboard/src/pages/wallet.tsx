import { walletCheckSchema, walletSchema } from '@pitboss/contracts/objects/wallet'
import { useState } from 'react'
import type * as z from 'zod'
import { ApiError } from '../api/api-error.ts'
import { WalletSeries } from '../charts/wallet-series.tsx'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { ClosedPage } from '../parts/closed-page.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { CertificationList } from './certification-list.tsx'
import { CertifyWallet } from './certify-wallet.tsx'
import { RotateWallet } from './rotate-wallet.tsx'
import { WalletExample } from './wallet-example.tsx'
import { WalletForm } from './wallet-form.tsx'

type Wallet = z.output<typeof walletSchema>

/** The operator's wallet of the environment. */
export default function WalletPage() {
  const { user, environment } = useDashboard()
  const [editing, setEditing] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const closed = whyNot(user.role, 'GET /v1/dashboard/wallets/{environment}')
  const path = `dashboard/wallets/${environment}`
  const read = useRead(walletSchema, path, {}, { enabled: closed === null })
  if (closed !== null) return <ClosedPage title="Wallet" why={closed} />
  const none =
    read.error instanceof ApiError && ['NOT_FOUND', 'WALLET_NOT_CONFIGURED'].includes(read.error.code)
  return (
    <Page
      title="Wallet"
      about={`Your server that holds the players' balances in ${environment}. We ask it for every stake and every win.`}
    >
      {none ? (
        <Empty title={`No ${environment} wallet yet`}>
          <p>
            Without one no round can begin. Say where it is, have it check our signatures with the secret that
            you get, then check it here.
          </p>
          {environment === 'TEST' && <WalletExample />}
          <ActButton look="main-button" onPress={() => setEditing(true)}>
            Set up the wallet
          </ActButton>
        </Empty>
      ) : (
        <Panel read={read}>
          {(wallet) => (
            <OneWallet of={wallet} path={path} onEdit={() => setEditing(true)} onSecret={setSecret} />
          )}
        </Panel>
      )}
      {editing && (
        <WalletForm
          of={none ? null : (read.data ?? null)}
          path={path}
          onSecret={setSecret}
          onClose={() => setEditing(false)}
        />
      )}
      {secret !== null && (
        <SecretOnce
          title="The wallet's secret"
          secrets={[{ label: 'Wallet secret', value: secret }]}
          note="We sign every request to your wallet with it, and it signs the callbacks to us."
          onStored={() => setSecret(null)}
        />
      )}
    </Page>
  )
}

type OneWalletProps = {
  readonly of: Wallet
  readonly path: string
  readonly onEdit: () => void
  readonly onSecret: (secret: string) => void
}

function OneWallet({ of: wallet, path, onEdit, onSecret }: OneWalletProps) {
  const { api } = useDashboard()
  const [rotating, setRotating] = useState(false)
  const [certifying, setCertifying] = useState(false)
  const [checked, setChecked] = useState<z.output<typeof walletCheckSchema> | null>(null)
  const check = useAct(async () => setChecked(await api.send(walletCheckSchema, 'POST', `${path}/check`)))
  return (
    <>
      <div className="acts">
        <ActButton look="main-button" busy={check.busy} onPress={() => void check.run()}>
          {check.busy ? 'Checking…' : 'Check the wallet'}
        </ActButton>
        <ActButton
          refused={
            wallet.environment === 'LIVE' ? 'It moves money of a test player; certify the TEST wallet.' : null
          }
          onPress={() => setCertifying(true)}
        >
          Certify
        </ActButton>
        <ActButton onPress={onEdit}>Change</ActButton>
        <ActButton onPress={() => setRotating(true)}>Rotate secret</ActButton>
      </div>
      <ErrorNotice error={check.error} />
      <section className="card" aria-label="Wallet">
        <Facts
          facts={{
            URL: <code>{wallet.url}</code>,
            'Time for an answer': `${wallet.timeout_ms} ms`,
            'Lost rounds': wallet.settle_losses === 'none' ? 'no call' : 'a credit of zero',
            Created: <Moment at={wallet.created_at} />,
            Changed: <Moment at={wallet.updated_at} />,
          }}
        />
      </section>
      {checked !== null && (
        <>
          <p className="notice" data-tone={checked.ok ? 'good' : 'problem'} role="status">
            <strong>{checked.ok ? 'The wallet answers as it should.' : 'The wallet has faults.'}</strong>
          </p>
          <DataTable
            label="Checks of the wallet"
            rows={checked.checks}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Check', cell: ({ name }) => <span className="nowrap">{name}</span> },
              {
                title: 'Result',
                cell: ({ ok }) => (
                  <span className="nowrap">{ok ? 'passed' : <strong className="fault">failed</strong>}</span>
                ),
              },
              { title: 'Expected', cell: ({ expected }) => expected ?? '–' },
              { title: 'Actual', cell: ({ actual }) => actual ?? '–' },
              { title: 'What to do', cell: ({ hint }) => hint ?? '–' },
            ]}
          />
        </>
      )}
      {wallet.environment === 'TEST' && (
        <>
          <WalletExample />
          <CertificationList path="dashboard/wallets/TEST/certifications" page="/wallet/certifications" />
        </>
      )}
      <WalletSeries path={path} />
      {certifying && <CertifyWallet onClose={() => setCertifying(false)} />}
      {rotating && <RotateWallet path={path} onSecret={onSecret} onClose={() => setRotating(false)} />}
    </>
  )
}
