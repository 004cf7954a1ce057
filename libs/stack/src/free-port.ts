import { createServer } from 'node:net'

/** Whether `port` of 127.0.0.1 can be listened on; 0 asks for any. @returns the port, or null when it is taken. */
export async function claimablePort(port: number): Promise<number | null> {
  return await new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(null)
      else reject(error)
    })
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : null))
    })
  })
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const port = await claimablePort(0)
  if (port === null) throw new Error('the machine has no free port')
  return port
}

/** `wanted` when it is free, else any other. */
export async function freePortNear(wanted: number | undefined): Promise<number> {
  return (wanted === undefined ? null : await claimablePort(wanted)) ?? (await freePort())
}
