import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import {
  createDashboardPage,
  createHome,
  createPlayPage,
  createStaticFiles,
  createVerifyPage,
  servedPage,
} from '../../src/answers/pages.ts'
import type { Inbound } from '../../src/http/inbound.ts'

const folder = t.testdir({})
mkdirSync(join(folder, 'play/assets'), { recursive: true })
writeFileSync(join(folder, 'play/index.html'), 'any game')
writeFileSync(join(folder, 'play/mines.html'), 'mines')
writeFileSync(join(folder, 'play/assets/mines-Bx3kQ9aZ.js'), 'js')
writeFileSync(join(folder, 'secret.json'), 'secret')
const files = createStaticFiles(folder)
const playPage = createPlayPage({ pages: files })

const script = 'console.log("a script that is long enough to be worth it")\n'.repeat(40)
writeFileSync(join(folder, 'play/assets/long-Bx3kQ9aZ.js'), script)

const inbound = (rest: string, headers: Record<string, string> = {}): Pick<Inbound, 'params' | 'raw'> => ({
  params: { '*': rest },
  raw: Object.assign(Object.create(null), { headers }),
})

await t.test('the root leads who asks for a page to the dashboard, and is nothing else', async (t) => {
  const home = createHome()
  for (const accept of [
    'text/html',
    'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8',
    'a/b, Text/HTML;q=0.1',
  ])
    t.match(await home(inbound('', { accept })), { status: 302, headers: { location: '/dashboard' } }, accept)
  const refusing = { accept: 'text/html;q=0, */*' }
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }, refusing])
    await t.rejects(home(inbound('', headers)), { code: 'NOT_FOUND' })
})

await t.test('a game has its own page or the common one', async (t) => {
  t.match(await playPage(inbound('mines')), { status: 200, content: { data: Buffer.from('mines') } })
  const dice = await playPage(inbound('dice'))
  t.match(dice, { content: { type: 'text/html; charset=utf-8', data: Buffer.from('any game') } })
  t.match(dice.headers?.['content-security-policy'], /frame-ancestors \*$/)
  t.match(
    dice.headers?.['content-security-policy'],
    /; require-trusted-types-for 'script'; trusted-types 'none';/,
  )
  t.notHas(dice.headers, { 'cross-origin-opener-policy': String }, 'its opener may see that it was closed')
  t.equal(dice.headers?.['cache-control'], 'no-cache')
  const asset = await playPage(inbound('assets/mines-Bx3kQ9aZ.js'))
  t.match(asset.headers?.['cache-control'], /immutable/)
  t.equal((await playPage(inbound('dice', { 'if-none-match': dice.headers?.etag ?? '' }))).status, 304)
})

await t.test('the page of a script is known by what is served, not by its name', async (t) => {
  const html = '<script type="module" crossorigin src="/play/assets/wheel-Bx3kQ9-Z.js"></script>'
  writeFileSync(join(folder, 'play/wheel.html'), html)
  t.equal(await servedPage(files, 'wheel-Bx3kQ9-Z.js'), 'wheel')
  for (const build of [
    'wheel-Bx3kQ9-Y.js',
    'mines-Bx3kQ9aZ.js',
    'dice-Bx3kQ9aZ.js',
    '..-Bx3kQ9aZ.js',
    '-Bx3kQ9aZ.js',
    'wheel.js',
    'x',
  ])
    t.equal(await servedPage(files, build), null, build)
  t.equal(await servedPage(null, 'wheel-Bx3kQ9-Z.js'), null, 'without pages')
})

await t.test(
  'a file that shrinks goes out compressed to those who take it, each form under its own etag',
  async (t) => {
    const asset = 'assets/long-Bx3kQ9aZ.js'
    const plain = await playPage(inbound(asset))
    t.match(plain, {
      status: 200,
      headers: { vary: 'accept-encoding' },
      content: { data: Buffer.from(script) },
    })
    for (const accepted of ['gzip', 'br, gzip;q=0.5', 'GZIP', 'deflate, *', 'gzip; q=1.0']) {
      const { headers, content } = await playPage(inbound(asset, { 'accept-encoding': accepted }))
      t.match(headers, { 'content-encoding': 'gzip', vary: 'accept-encoding' }, accepted)
      t.ok(Buffer.isBuffer(content?.data) && gunzipSync(content.data).equals(Buffer.from(script)))
      t.not(headers?.etag, plain.headers?.etag)
      const again = { 'accept-encoding': accepted, 'if-none-match': headers?.etag ?? '' }
      t.equal((await playPage(inbound(asset, again))).status, 304)
      t.equal((await playPage(inbound(asset, { 'if-none-match': headers?.etag ?? '' }))).status, 200)
    }
    for (const refused of ['', 'br', 'gzip;q=0', 'gzip;q=0.000, *', 'x-gzipped', 'identity']) {
      const { headers } = await playPage(inbound(asset, { 'accept-encoding': refused }))
      t.equal(headers?.['content-encoding'], undefined, refused)
    }
    const short = await playPage(inbound('mines', { 'accept-encoding': 'gzip' }))
    t.strictSame([short.headers?.['content-encoding'], short.headers?.vary], [undefined, undefined])
  },
)

await t.test('the brotli form that the build made goes out to those who take it', async (t) => {
  const asset = 'assets/best-Bx3kQ9aZ.js'
  const made = brotliCompressSync(script)
  writeFileSync(join(folder, 'play', asset), script)
  writeFileSync(join(folder, 'play', `${asset}.br`), made)
  const answerTo = (accepted: string) => playPage(inbound(asset, { 'accept-encoding': accepted }))
  for (const accepted of ['br', 'gzip, deflate, br, zstd', 'gzip;q=0.5, br']) {
    t.match(await answerTo(accepted), {
      headers: { 'content-encoding': 'br', vary: 'accept-encoding', etag: /-br"$/ },
      content: { type: 'text/javascript; charset=utf-8', data: made },
    })
  }
  for (const accepted of ['gzip', 'gzip, br;q=0', 'br;q=0, *'])
    t.match((await answerTo(accepted)).headers, { 'content-encoding': 'gzip' }, accepted)
  t.notHas((await answerTo('identity')).headers, { 'content-encoding': String })
  await t.rejects(playPage(inbound(`${asset}.br`)), { code: 'NOT_FOUND' }, 'it has no address of its own')
})

await t.test('nothing else is served, and nothing when the pages were not built', async (t) => {
  const paths = [
    'assets/../../secret.json',
    'assets/..',
    '../secret.json',
    'assets/',
    'a/b',
    'assets/none.js',
    'UPPER',
  ]
  for (const rest of paths) await t.rejects(playPage(inbound(rest)), { code: 'NOT_FOUND' }, rest)
  await t.rejects(createDashboardPage({ pages: files })(inbound('assets/none.js')), { code: 'NOT_FOUND' })
  await t.rejects(createVerifyPage({ pages: files })(inbound('')), { code: 'NOT_FOUND' })
  await t.rejects(createPlayPage({ pages: null })(inbound('dice')), { code: 'NOT_FOUND' })
  t.equal(await files.read('../etc/passwd'), null)
})
