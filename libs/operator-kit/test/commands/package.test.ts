import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** The test runner hooks itself into every Node; the compiler cannot bear it. */
const unhooked = ['-u', 'NODE_OPTIONS']
const packMain = fileURLToPath(new URL('../../src/pack-main.ts', import.meta.url))

t.test(
  'the packed kit runs in an empty folder, without this repository and without a network',
  { timeout: 120_000 },
  async (t) => {
    const out = t.testdir({ elsewhere: { 'package.json': '{ "private": true, "type": "module" }' } })
    execFileSync('env', [...unhooked, process.execPath, packMain, out])
    const [tarball = ''] = readdirSync(out).filter((name) => name.endsWith('.tgz'))
    const elsewhere = join(out, 'elsewhere')
    const within = { cwd: elsewhere, encoding: 'utf8' } as const
    execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', join(out, tarball)], within)
    t.strictSame(
      readdirSync(join(elsewhere, 'node_modules/@pitboss')),
      ['operator-kit'],
      'it has no dependencies',
    )

    const run = (...args: string[]) => spawnSync('npx', ['--offline', ...args], within)
    mkdirSync(join(elsewhere, 'rounds'))
    writeFileSync(join(elsewhere, 'rounds/none.json'), '{}')
    t.match(run('pitboss', 'verify', 'rounds/none.json'), { status: 1, stdout: /NOT valid/ })
    t.match(run('pitboss', 'verify', 'absent.json'), { status: 2, stderr: /ENOENT/ })
    const dead = run('pitboss', 'certify-wallet', '--url', 'http://127.0.0.1:1', '--secret', 's', '--json')
    t.equal(dead.status, 1)
    t.match(JSON.parse(dead.stdout), { certified: false, passed: 0 })

    writeFileSync(
      join(elsewhere, 'receiver.js'),
      "import { verify } from '@pitboss/operator-kit/verify-webhook'\nconsole.log(JSON.stringify(await verify({}, new Uint8Array(), ['s'])))\n",
    )
    const verified = execFileSync(process.execPath, ['receiver.js'], within)
    t.match(JSON.parse(verified), { ok: false, reason: 'MISSING_HEADER' })
  },
)
