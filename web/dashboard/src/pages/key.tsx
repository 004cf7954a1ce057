import { credentialPatchSchema, credentialSchema } from '@pitboss/contracts/objects/account'
import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type * as z from 'zod'
import { useLocation, useParams } from 'wouter'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { ClosedPage } from '../parts/closed-page.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNoKeyLike, whyNot } from '../session/may.ts'
import { AllowlistBench } from './allowlist-bench.tsx'
import { AllowlistField, readAllowlist } from './allowlist-field.tsx'
import { readScopes, ScopeFields } from './scope-fields.tsx'
import { scopeTexts, scopesText } from './scope-texts.ts'
import { textOf } from '../parts/text-of.ts'

type Credential = z.output<typeof credentialSchema>
type Act = 'change' | 'rotate' | 'revoke' | 'delete'

/** One key pair and what can be done with it. */
export default function Key() {
  const { api_key: id = '' } = useParams()
  const { user, environment } = useDashboard()
  const closed = whyNot(user.role, 'GET /v1/dashboard/credentials')
  const path = `dashboard/credentials/${encodeURIComponent(id)}`
  const read = useRead(credentialSchema, path, { environment }, { enabled: closed === null })
  if (closed !== null) return <ClosedPage title="Key" why={closed} />
  return (
    <Page title={read.data?.name ?? 'Key'}>{<Panel read={read}>{(key) => <OneKey of={key} />}</Panel>}</Page>
  )
}

function OneKey({ of: key }: { of: Credential }) {
  const { user } = useDashboard()
  const [act, setAct] = useState<Act | null>(null)
  const close = () => setAct(null)
  const ended = key.status === 'REVOKED' ? 'The key is revoked; that is for ever.' : null
  const likeIt = ended ?? whyNoKeyLike(user.role, key)
  const why = useId()
  return (
    <>
      <div className="acts">
        <ActButton refused={likeIt} toldBy={why} onPress={() => setAct('change')}>
          Change
        </ActButton>
        <ActButton refused={likeIt} toldBy={why} onPress={() => setAct('rotate')}>
          Rotate secret
        </ActButton>
        <ActButton refused={ended} toldBy={why} onPress={() => setAct('revoke')}>
          Revoke
        </ActButton>
        <ActButton onPress={() => setAct('delete')}>Delete</ActButton>
      </div>
      {likeIt !== null && (
        <p className="why" id={why}>
          {likeIt}
        </p>
      )}
      <section className="card" aria-label="Key">
        <Facts
          facts={{
            Key: (
              <>
                <code>{key.api_key}</code> <CopyButton text={key.api_key} what="key" />
              </>
            ),
            Status: <Badge status={key.status} />,
            'May do': scopesText(
              key.scopes.map((scope) => scopeTexts[scope as keyof typeof scopeTexts] ?? scope),
            ),
            'Allowed addresses': key.ip_allowlist.length === 0 ? 'everywhere' : key.ip_allowlist.join(', '),
            'Last used':
              key.last_used_at === null ? (
                'never'
              ) : (
                <>
                  <Moment at={key.last_used_at} />
                  {typeof key.last_used_from === 'string' && ` from ${key.last_used_from}`}
                </>
              ),
            'Has used': usedText(key),
            Created: <Moment at={key.created_at} />,
            'Secret rotated': <Moment at={key.rotated_at} />,
            Revoked: key.revoked_at === null ? undefined : <Moment at={key.revoked_at} />,
          }}
        />
      </section>
      <AllowlistBench apiKey={key.api_key} allowlist={key.ip_allowlist} />
      {act === 'change' && <ChangeKey of={key} onClose={close} />}
      {act === 'rotate' && <RotateKey of={key} onClose={close} />}
      {act === 'revoke' && <RevokeKey of={key} onClose={close} />}
      {act === 'delete' && <DeleteKey of={key} onClose={close} />}
    </>
  )
}

/** What the key has used, and which scopes of it nobody needed yet. */
function usedText({ scopes, scopes_used: used = [] }: Credential): string {
  const idle = scopes.filter((scope) => !used.some((one) => one === scope))
  const has = used.length === 0 ? 'nothing yet' : used.join(', ')
  return scopes.length === 0 || idle.length === 0 ? has : `${has}; never ${idle.join(', ')}`
}

type ActProps = { readonly of: Credential; readonly onClose: () => void }
const pathOf = ({ api_key }: Credential) => `dashboard/credentials/${encodeURIComponent(api_key)}`

function ChangeKey({ of: key, onClose }: ActProps) {
  const { api, user } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async (body: z.output<typeof credentialPatchSchema>) => {
    await api.send(credentialSchema, 'PATCH', pathOf(key), { body })
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Modal title="Change the key" onClose={onClose}>
      <p className="quiet">It counts for tokens already minted, within two seconds.</p>
      <Form
        schema={credentialPatchSchema}
        read={(data) => {
          const ip_allowlist = readAllowlist(data)
          const same = ip_allowlist.join() === key.ip_allowlist.join()
          const name = textOf(data, 'name')
          return { name, scopes: readScopes(data), ...(same ? {} : { ip_allowlist }) }
        }}
        send={act.run}
        {...act}
        submit="Save"
        write={{ method: 'PATCH', path: pathOf(key) }}
      >
        {(faults) => (
          <>
            <Field label="Name" fault={faults.name}>
              <input type="text" name="name" maxLength={128} defaultValue={key.name} autoComplete="off" />
            </Field>
            <ScopeFields
              chosen={key.scopes}
              refused={whyNoKeyLike(user.role, { ...key, scopes: [] })}
              fault={faults.scopes === undefined ? undefined : 'Tick what the key may do.'}
            />
            <AllowlistField addresses={key.ip_allowlist} fault={faults.ip_allowlist} />
          </>
        )}
      </Form>
    </Modal>
  )
}

function RotateKey({ of: key, onClose }: ActProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [secret, setSecret] = useState<string | null>(null)
  const act = useAct(async () => {
    const { api_secret } = await api.send(credentialSchema, 'POST', `${pathOf(key)}/rotate`)
    setSecret(api_secret ?? null)
    await queries.invalidateQueries()
  })
  if (secret !== null)
    return (
      <SecretOnce
        title="The new secret"
        secrets={[{ label: 'Secret', value: secret }]}
        note="The old one has ended. Tokens already minted go on."
        onStored={onClose}
      />
    )
  return (
    <Confirm
      title="Rotate the secret"
      act="Rotate secret"
      grave
      {...act}
      onConfirm={act.run}
      onClose={onClose}
    >
      <p>
        The old secret of <strong>{key.name}</strong> ends with the answer, without overlap: your server can
        mint no token until it has the new one. Tokens already minted go on.
      </p>
    </Confirm>
  )
}

function RevokeKey({ of: key, onClose }: ActProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async () => {
    await api.send(credentialSchema, 'POST', `${pathOf(key)}/revoke`)
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Confirm title="Revoke the key" act="Revoke" grave {...act} onConfirm={act.run} onClose={onClose}>
      <p>
        <strong>{key.name}</strong> and every token that was minted with it end within two seconds. This can't
        be undone.
      </p>
    </Confirm>
  )
}

function DeleteKey({ of: key, onClose }: ActProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const act = useAct(async () => {
    await api.send(null, 'DELETE', pathOf(key))
    navigate('/keys')
    await queries.invalidateQueries()
  })
  return (
    <Confirm title="Delete the key" act="Delete" grave {...act} onConfirm={act.run} onClose={onClose}>
      <p>
        <strong>{key.name}</strong> ends as if it were revoked, and past requests lose its name. This can't be
        undone.
      </p>
    </Confirm>
  )
}
