#include <stdio.h>
#include "bbattery.h"
#include "swrite.h"
int main(int argc, char **argv) {
    swrite_Basic = FALSE;
    bbattery_RabbitFile(argv[1], 67108864.0);
    for (int i = 0; i < bbattery_NTests; i++)
        printf("p %s %.17e\n", bbattery_TestNames[i], bbattery_pVal[i]);
    return 0;
}
