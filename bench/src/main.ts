process.stdout.write('daybook bench: no benchmark has been written yet\n');
