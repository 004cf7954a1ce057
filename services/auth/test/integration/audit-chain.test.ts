import { randomUUID } from 'node:crypto'
import { actedBy, type AuditEntry } from '@pitboss/contracts/audit'
import { auditHeadSchema, chainFaults, hashOfLink } from '@pitboss/contracts/audit-chain'
import { appendAudit } from '@pitboss/contracts/calls/auth'
import { opsCreateOperator, opsReadAuditChain } from '@pitboss/contracts/calls/auth-ops'
import { createBrand, listAudit } from '@pitboss/contracts/endpoints/auth'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { newId } from '@pitboss/runtime/new-id'
import t from 'tap'
import { createSignAuditHeads } from '../../src/actions/sign-audit-heads.ts'
import type { AuditDocument } from '../../src/storage/audits-store.ts'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

const none = { params: {}, query: {}, body: undefined }
const order = { by: 'test', reason: null, dryRun: false }
const longAgo = new Date(0)

async function account(t: Parameters<typeof authOnDatabase>[0]) {
  const auth = await authOnDatabase(t)
  const of = { name: 'Casino', plan: 'paid' as const, approved: true, currencies: null }
  const email = `owner-${randomUUID()}@casino.example`
  const made = await auth.call(opsCreateOperator, { order, email, password: 'a long enough password', ...of })
  const operatorId = operatorIdOf(made.operator_id) ?? ''
  const owner = auth.callerAs(operatorId, newId('usr'))
  const change = (name: string) => auth.call(createBrand.call, { caller: owner, ...none, body: { name } })
  const read = () => auth.call(opsReadAuditChain, { operator: made.operator_id, from_seq: 1, limit: 50 })
  const faults = async () => {
    const { links, head, unlinked } = await read()
    const payload = head === null ? null : Buffer.from(head.split('.')[1] ?? '', 'base64url').toString()
    const signed = payload === null ? null : auditHeadSchema.parse(JSON.parse(payload))
    const found = chainFaults(links, { head: signed, keptFrom: longAgo })
    return [...found.map(({ seq, what }) => `${seq}: ${what}`), ...unlinked]
  }
  const signAt = (now: Date) => createSignAuditHeads({ ...auth, clock: { now: () => now } })()
  return { ...auth, operatorId, owner, change, read, faults, signAt }
}

t.test('whatever is done to an entry of the log is found', async (t) => {
  const { db, operatorId, owner, call, change, read, faults, signAt } = await account(t)
  for (const name of ['North', 'South', 'East']) await change(name)
  t.equal((await read()).links.length, 4)
  t.strictSame(await faults(), [])
  await signAt(new Date())
  const page = await call(listAudit.call, { caller: owner, ...none, query: { limit: 50 } })
  t.match(page.body.data, [{ seq: 4, proof: 'none', source: 'auth' }, { seq: 3 }, { seq: 2 }, { seq: 1 }])
  t.match(page.body.head, { seq: 4, hash: page.body.data[0]?.hash, signature: /^eyJ/ })
  t.strictSame(await faults(), [])

  const audits = db.collection<AuditDocument>('audits')
  const entries = await audits.find({ operatorId }).sort({ 'link.seq': 1 }).toArray()
  const [, second, third, fourth] = entries
  if (second === undefined || third === undefined || fourth === undefined) throw new Error('four entries')
  const put = async (one: AuditDocument) => void (await audits.replaceOne({ _id: one._id }, one))
  await put({ ...second, entry: { ...second.entry, client_address: '192.0.2.66' } })
  t.strictSame(await faults(), ['2: was changed'])
  const { link } = second
  if (link === undefined) throw new Error('it has a link')
  const entry = { ...second.entry, client_address: '192.0.2.66' }
  await put({ ...second, entry, link: { ...link, hash: hashOfLink({ ...link, entry }) } })
  t.strictSame(await faults(), ['3: does not follow the entry before it'], 'also with its hash')
  await put(second)
  await audits.deleteOne({ _id: third._id })
  t.strictSame(await faults(), ['3: entries are missing before 4'])
  await audits.insertOne(third)
  await audits.deleteOne({ _id: fourth._id })
  t.match(await faults(), [/^4: is missing: signed at/], 'the end is signed')
  await audits.insertOne(fourth)
  await audits.insertOne({
    ...third,
    _id: 'aud_forged',
    link: { ...link, seq: 5, prev: 'x', hash: link.hash },
  })
  t.match(await faults(), [/^5: was changed/])
  await audits.deleteOne({ _id: 'aud_forged' })
  const { link: _, ...unlinked } = third
  await audits.insertOne({ ...unlinked, _id: 'aud_beside' })
  t.strictSame(await faults(), ['aud_beside'], 'and so is one beside the chain')
})

t.test('a head is signed once an hour, and not without a new entry', async (t) => {
  const { change, read, signAt } = await account(t)
  const headAt = async (now: Date) => {
    await signAt(now)
    return (await read()).head
  }
  const start = Date.now()
  const at = (minutes: number) => new Date(start + minutes * 60_000)
  const first = await headAt(at(1))
  await change('North')
  t.equal(await headAt(at(30)), first)
  const second = await headAt(at(61))
  t.not(second, first)
  t.equal(await headAt(at(200)), second)
})

t.test('entries that come at once follow each other, each once', async (t) => {
  const { stores, operatorId, owner, faults, read } = await account(t)
  const entryOf = (index: number): AuditEntry => ({
    ...{ audit_id: `aud_${index}`, at: new Date().toISOString(), ...actedBy(owner, { requestId: 'req_1' }) },
    ...{ act: 'brand.create', object: { type: 'brand', id: String(index) }, before: null, after: null },
  })
  const taken = Array.from({ length: 24 }, (_, index) => ({
    ...{ entry: entryOf(index % 12), source: 'auth' as const, proof: 'none' as const },
  }))
  const written = await Promise.all(taken.map((one) => stores.audits.append([one], new Date())))
  t.equal(written.filter((count) => count === 1).length, 12)
  t.equal((await read()).links.length, 13)
  t.strictSame(await faults(), [])
  t.ok(operatorId)
})

t.test("a service's word is no proof: the token of the author is", async (t) => {
  const { call, signer, operatorId, owner, change, db } = await account(t)
  const userId = owner.actor.kind === 'user' ? owner.actor.user_id : ''
  const tokenOf = (subject: string) =>
    signer.sign({
      ...{ audience: 'dashboard' as const, subject, operatorId, mode: 'TEST' as const, scopes: [] },
      expiresAtS: Math.floor(Date.now() / 1000) + 3600,
    })
  const append = async (audit_id: string, token?: string) => {
    const entry: AuditEntry = {
      ...{ audit_id, at: new Date().toISOString(), ...actedBy(owner, { requestId: 'req_1' }) },
      ...{ act: 'endpoint.delete', object: { type: 'endpoint', id: 'whe_1' }, before: null, after: null },
      ...(token === undefined ? {} : { token }),
    }
    await call(appendAudit.webhooks, { entries: [entry] })
    const stored = await db.collection<AuditDocument>('audits').findOne({ _id: `webhooks/${audit_id}` })
    t.notMatch(JSON.stringify(stored), /eyJ/, 'no token is kept')
    return stored?.link?.proof
  }
  t.equal(await append('aud_a'), 'none')
  t.equal(await append('aud_b', await tokenOf(userId)), 'token')
  t.equal(await append('aud_c', await tokenOf(newId('usr'))), 'none', 'another person')
  t.equal(await append('aud_d', 'a.b.c'), 'none')

  const [before] = (await call(listAudit.call, { caller: owner, ...none, query: { limit: 1 } })).body.data
  await change('North')
  const [own] = (await call(listAudit.call, { caller: owner, ...none, query: { limit: 1 } })).body.data
  t.not(own?.audit_id, before?.audit_id)
  t.equal(await append(own?.audit_id ?? ''), 'none', "an id of auth's is another entry of a service")
})

t.test('an entry of auth itself names the token of its request', async (t) => {
  const { call, signer, operatorId, owner } = await account(t)
  const subject = owner.actor.kind === 'user' ? owner.actor.user_id : ''
  const token = await signer.sign({
    ...{ audience: 'dashboard', subject, operatorId, mode: 'TEST', scopes: [] },
    expiresAtS: Math.floor(Date.now() / 1000) + 3600,
  })
  await call(createBrand.call, { caller: owner, ...none, body: { name: 'North' } }, token)
  const [own] = (await call(listAudit.call, { caller: owner, ...none, query: { limit: 1 } })).body.data
  t.match(own, { act: 'brand.create', proof: 'token', source: 'auth' })
})
