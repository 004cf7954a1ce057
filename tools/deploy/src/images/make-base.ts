import { copyFileSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import type { BasePackage } from './base-packages.ts'
import { imageUser } from './image-table.ts'
import type { NodeProgram } from './node-program.ts'

/** Files of the Debian packages that stay: libraries, licences, and the release's name. */
const kept = [
  /^usr\/lib\/(?!.*\/gconv\/)/,
  /^usr\/lib64\//,
  /^usr\/share\/doc\/[^/]+(\/copyright)?$/,
  /^lib(64)?$/,
  /^etc\/(debian_version|os-release)$/,
]

/** Where a container runtime mounts what the kernel and the machine have. */
const mountPoints = ['dev', 'etc', 'proc', 'run', 'sys']

/**
 * Makes the root file system that all images share in `folder`, an empty one: Node, the libraries that it
 * needs, and a user. There is no shell, no package manager, and no folder that the user may write to.
 */
export async function makeBase(
  folder: string,
  { packages, node }: { packages: readonly BasePackage[]; node: NodeProgram },
): Promise<void> {
  for (const { file } of packages) await runProgram('dpkg-deb', ['-x', file, folder])
  prune(folder)
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const path of mountPoints) mkdirSync(join(folder, path), { recursive: true })
  for (const { name, control } of packages) write(`var/lib/dpkg/status.d/${name}`, control)
  write(
    'etc/passwd',
    `root:x:0:0:root:/:/usr/sbin/nologin\npitboss:x:${imageUser}:${imageUser}:Pitboss:/app:/usr/sbin/nologin\n`,
  )
  write('etc/group', `root:x:0:\npitboss:x:${imageUser}:\n`)
  // The hosts file before name servers: a cluster's own names are in both.
  write('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n')
  mkdirSync(join(folder, 'usr/local/bin'), { recursive: true })
  copyFileSync(node.path, join(folder, 'usr/local/bin/node'))
  if (node.licence !== null) write('usr/share/doc/node/copyright', node.licence)
}

/** Removes every file that no image needs, and the folders that this leaves empty. */
function prune(root: string, folder = root): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) prune(root, path)
    else if (!kept.some((pattern) => pattern.test(relative(root, path)))) rmSync(path)
  }
  if (folder !== root && existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
}
