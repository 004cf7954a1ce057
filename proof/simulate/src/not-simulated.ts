/** In the place of what no simulated process calls. */
export async function notSimulated(): Promise<never> {
  throw new Error('not simulated')
}
