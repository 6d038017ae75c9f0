"""Runs a program on a pseudo-terminal: run_on_terminal.py COLUMNS ROWS PROGRAM ARGUMENTS…

What the program writes goes to stdout as it is. Each line on stdin is JSON: {"keys": "q"} types, {"size": [columns, rows]}
makes the window another size, {"signal": 15} sends a signal to the program, {"close": true} closes the terminal. When the program has ended, the last line on
stderr is JSON: {"code": 0, "echo": true} with its exit code (negative for a signal) and whether the terminal echoes again.
"""
import fcntl, json, os, pty, select, signal, struct, sys, termios

columns, rows, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]


def resize(fd, columns, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


main, sub = pty.openpty()
resize(sub, columns, rows)
pid = os.fork()
if pid == 0:
    os.close(main)
    os.setsid()
    fcntl.ioctl(sub, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(sub, fd)
    os.execvp(command[0], command)

# `sub` stays open here, so that the terminal can be looked at when the program has ended.
buffer = b""
is_typing = True
status = None
while True:
    ready, _, _ = select.select(([] if main is None else [main]) + ([0] if is_typing else []), [], [], 0.05)
    if main is not None and main in ready:
        sys.stdout.buffer.write(os.read(main, 65536))
        sys.stdout.buffer.flush()
        continue
    if 0 in ready:
        chunk = os.read(0, 65536)
        is_typing = chunk != b""
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            asked = json.loads(line)
            if "keys" in asked:
                os.write(main, asked["keys"].encode())
            if "size" in asked:
                resize(main, *asked["size"])
            if "signal" in asked:
                os.kill(pid, asked["signal"])
            if "close" in asked:
                os.close(main)
                main = None
        continue
    if status is not None:
        break
    ended, waited = os.waitpid(pid, os.WNOHANG)
    if ended == pid:
        status = waited
code = os.waitstatus_to_exitcode(status)
echo = main is not None and bool(termios.tcgetattr(sub)[3] & termios.ECHO)
sys.stderr.write(json.dumps({"code": code, "echo": echo}) + "\n")
