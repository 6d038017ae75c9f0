const shortages: ReadonlyArray<unknown> = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']

/** Whether a system call failed because the process or the machine is short of something. It says nothing about the file, and the same may work later. */
export const isShortage = (error: unknown): boolean => shortages.includes((error as NodeJS.ErrnoException).code)
