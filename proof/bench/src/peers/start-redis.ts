import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { listenLocally } from '@pitboss/testing/listen-locally'
import type { Cleanup } from '../harness/cleanup.ts'

/** Debian's packages of the server and of the libraries that it needs beside those of every machine. */
const packages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblua5.1-0', 'liblzf1', 'libhiredis0.14']
const luaPackages = ['lua-bitop', 'lua-cjson']

/**
 * Starts a redis-server whose answers follow the write to its disk: Debian's, of the machine's own suite,
 * unpacked into `folder` and not installed.
 * @throws Error where apt has none
 */
export async function startRedis(
  folder: string,
  cleanup: Cleanup,
): Promise<{ port: number; version: string }> {
  const [unpacked, data] = [join(folder, 'unpacked'), join(folder, 'data')]
  for (const path of [unpacked, data]) mkdirSync(path, { recursive: true })
  execFileSync('/usr/bin/apt-get', ['download', ...packages, ...luaPackages], { cwd: folder, stdio: 'pipe' })
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb')))
    execFileSync('/usr/bin/dpkg-deb', ['-x', join(folder, file), unpacked])
  const libraries = join(unpacked, 'usr/lib')
  const path = readdirSync(libraries).map((name) => join(libraries, name))
  const program = join(unpacked, 'usr/bin/redis-server')
  if (!existsSync(program)) throw new Error("Debian's redis-server is not where it used to be")
  const env = { LD_LIBRARY_PATH: path.join(':') }
  const version = /v=(\S+)/.exec(execFileSync(program, ['--version'], { env, encoding: 'utf8' }))?.[1]
  const probe = createServer()
  const port = await listenLocally(probe)
  probe.close()
  await once(probe, 'close')
  const settings = { bind: '127.0.0.1', port, dir: data, appendonly: 'yes', appendfsync: 'always', save: '' }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  cleanup.add(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
  })
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  child.stdout.on('data', (bytes: Buffer) => {
    if (bytes.includes('Ready to accept connections')) resolve()
  })
  child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)))
  await ready
  return { port, version: version ?? 'unknown' }
}
