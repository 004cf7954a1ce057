import type { Socket } from 'node:net'

/** Calls `onLine` with every whole line that arrives. Errors of the socket stay the socket's. */
export function readLines(socket: Socket, onLine: (line: string) => void): void {
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
}
